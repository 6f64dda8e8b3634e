// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package clustertest

import (
	"context"
	"errors"
	"sync"

	"github.com/valkey-render/valkey-render/topologyjob/node"
)

// ErrStopped is what a command gets once a Crash has happened.
var ErrStopped = errors.New("stopped by the test")

// Crash is a dialer whose user is stopped after so many commands that change something,
// as a killed process is: no further command of any kind goes out.
type Crash struct {
	node.Dialer
	// After is how many changing commands go out.
	After int
	// Stop is called once, when the next one would.
	Stop func()

	mu      sync.Mutex
	sent    []string
	stopped bool
}

// Sent are the changing commands that went out.
func (c *Crash) Sent() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.sent...)
}

// Stopped reports whether the crash happened.
func (c *Crash) Stopped() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stopped
}

// Dial implements node.Dialer.
func (c *Crash) Dial(ctx context.Context, address node.Address) (node.Conn, error) {
	if c.Stopped() {
		return nil, ErrStopped
	}
	conn, err := c.Dialer.Dial(ctx, address)
	if err != nil {
		return nil, err
	}
	return &crashConn{Conn: conn, crash: c, address: address.String()}, nil
}

// admit reports whether a command may go out.
func (c *Crash) admit(address string, command node.Command) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.stopped && command.Changes() {
		if len(c.sent) >= c.After {
			c.stopped = true
			c.Stop()
		} else {
			c.sent = append(c.sent, address+" "+command.String())
		}
	}
	return !c.stopped
}

type crashConn struct {
	node.Conn
	crash   *Crash
	address string
}

// Do sends the commands one by one, so that a pipeline can be cut anywhere.
func (c *crashConn) Do(ctx context.Context, commands ...node.Command) []node.Reply {
	replies := make([]node.Reply, len(commands))
	for i, command := range commands {
		if !c.crash.admit(c.address, command) {
			replies[i].Err = ErrStopped
			continue
		}
		replies[i] = c.Conn.Do(ctx, command)[0]
	}
	return replies
}
