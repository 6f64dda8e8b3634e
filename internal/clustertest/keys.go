// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package clustertest

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/valkey-render/valkey-render/internal/servertest"
)

// patience is how long a command is sent again to servers that do not take it: a machine
// that stops them for a node timeout has them take each other for dead for a moment.
const patience = 30 * time.Second

// Fill writes keys 0 to n-1 through the pods as they own the slots now.
func (c *Cluster) Fill(n int) {
	c.tb.Helper()
	deadline := time.Now().Add(patience)
	for i := range n {
		key := fmt.Sprintf("key:%d", i)
		if _, err := c.persist(deadline, "SET", key, fmt.Sprintf("value:%d", i)); err != nil {
			c.tb.Fatalf("SET %s: %v", key, err)
		}
	}
}

// Missing counts the keys of Fill that cannot be read or have another value.
func (c *Cluster) Missing(n int) int {
	c.tb.Helper()
	deadline := time.Now().Add(patience)
	missing := 0
	for i := range n {
		key := fmt.Sprintf("key:%d", i)
		if value, err := c.persist(deadline, "GET", key); err != nil || value != fmt.Sprintf("value:%d", i) {
			missing++
		}
	}
	return missing
}

// persist sends a command until a pod takes it or the time is over, at least once.
func (c *Cluster) persist(deadline time.Time, words ...string) (any, error) {
	for {
		reply, err := c.do(words...)
		if err == nil || time.Now().After(deadline) {
			return reply, err
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// do sends a command to the first pod that does not send it elsewhere.
func (c *Cluster) do(words ...string) (any, error) {
	var last error
	for _, p := range c.Sorted() {
		if p.Server == nil || !c.slots() && p.Role() != "master" {
			continue
		}
		reply, err := p.Server.Do(words...)
		if err == nil {
			return reply, nil
		}
		var refused servertest.ReplyError
		if last == nil || !errors.As(err, &refused) || !strings.HasPrefix(string(refused), "MOVED") {
			last = err
		}
	}
	return nil, last
}

// Synced waits until every replica has all that its primary has.
func (c *Cluster) Synced() {
	c.tb.Helper()
	for _, p := range c.Sorted() {
		if p.Server == nil {
			continue
		}
		// On a primary without replicas, and on a replica, it returns at once. Sentinels end
		// all connections to servers whose role they change.
		wait := []string{"WAIT", fmt.Sprint(c.Desired.Replicas), "8000"}
		_, err := p.Server.Do(wait...)
		if _, refused := errors.AsType[servertest.ReplyError](err); err != nil && !refused {
			_, err = p.Server.Do(wait...)
		}
		if err != nil && !strings.Contains(err.Error(), "WAIT cannot be used with replica") {
			c.tb.Fatal(err)
		}
	}
}
