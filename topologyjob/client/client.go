// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"github.com/valkey-io/valkey-go"

	"github.com/valkey-render/valkey-render/topologyjob/node"
)

// Name is how our connections show in CLIENT LIST.
const Name = "valkey-topology"

// Buffers of a connection. What valkey-go takes without being told, a megabyte each, does
// not fit in a Job that talks to hundreds of servers.
const (
	readBuffer  = 32 << 10
	writeBuffer = 8 << 10
	ringScale   = 8 // 2^8 commands in flight
)

// Dialer makes connections. The zero value logs in as nobody and speaks without TLS.
type Dialer struct {
	// Username logs in with one of the passwords; "" sends none.
	Username string
	// Passwords are tried in order until one is right: during a rotation the server may
	// know the current one, the next one or both. It is asked for each connection, since a
	// mounted Secret changes.
	Passwords func() ([]string, error)
	// TLS, when not nil, is used with the name of the address as ServerName.
	TLS *tls.Config
	// Timeout bounds connecting, and how long a server may be silent while it is asked, 2 s
	// when 0. A context may end them earlier, and node.WithPatience lengthens the latter.
	Timeout time.Duration
}

var _ node.Dialer = Dialer{}

// Dial connects and logs in.
func (d Dialer) Dial(ctx context.Context, address node.Address) (node.Conn, error) {
	if d.Username == "" {
		return d.dial(ctx, address, "")
	}
	passwords, err := d.Passwords()
	if err != nil {
		return nil, fmt.Errorf("password of %s: %w", d.Username, err)
	}
	err = fmt.Errorf("password of %s: none given", d.Username)
	for _, password := range passwords {
		if password == "" {
			continue
		}
		var c *conn
		if c, err = d.dial(ctx, address, password); err == nil {
			return c, nil
		}
		var refused *node.RefusedError
		if !errors.As(err, &refused) || refused.Code() != "WRONGPASS" {
			return nil, err
		}
	}
	return nil, err
}

// Login is who a server logs in as at another one, as this dialer does: the passwords in
// the order in which they are tried.
func (d Dialer) Login() (node.Login, error) {
	if d.Username == "" {
		return node.Login{}, nil
	}
	passwords, err := d.Passwords()
	if err != nil {
		return node.Login{}, fmt.Errorf("password of %s: %w", d.Username, err)
	}
	return node.Login{User: d.Username, Passwords: passwords}, nil
}

func (d Dialer) dial(ctx context.Context, address node.Address, password string) (*conn, error) {
	timeout := d.Timeout
	if timeout == 0 {
		timeout = 2 * time.Second
	}
	// What is left of a context bounds the dial alone: the connection outlives it.
	dialing := timeout
	if deadline, ok := ctx.Deadline(); ok {
		dialing = min(dialing, time.Until(deadline)) //nolint:forbidigo // the library takes a duration, the context has a time
	}
	if dialing <= 0 {
		return nil, context.DeadlineExceeded
	}
	var dialed atomic.Bool
	client, err := valkey.NewClient(valkey.ClientOption{
		InitAddress:       []string{address.String()},
		ForceSingleClient: true,
		DisableCache:      true,
		DisableRetry:      true,
		AlwaysRESP2:       true, // in RESP3 a text has its kind before it, "txt:"
		AlwaysPipelining:  true,
		PipelineMultiplex: -1, // one connection
		BlockingPipeline:  -1, // for long pipelines too
		Username:          d.Username,
		Password:          password,
		ClientName:        Name,
		ClientSetInfo:     []string{},
		TLSConfig:         d.tls(address),
		Dialer:            net.Dialer{Timeout: dialing},
		ConnWriteTimeout:  max(timeout, node.PatienceOf(ctx)),

		RingScaleEachConn:   ringScale,
		ReadBufferEachConn:  readBuffer,
		WriteBufferEachConn: writeBuffer,
		DialCtxFn: func(_ context.Context, to string, dialer *net.Dialer, config *tls.Config) (net.Conn, error) {
			if dialed.Swap(true) {
				return nil, net.ErrClosed
			}
			// Of the library's two contexts the caller's is the one that ends.
			if config != nil {
				return (&tls.Dialer{NetDialer: dialer, Config: config}).DialContext(ctx, "tcp", to)
			}
			return dialer.DialContext(ctx, "tcp", to)
		},
	})
	if err != nil {
		return nil, translate(err)
	}
	return &conn{client: client}, nil
}

func (d Dialer) tls(address node.Address) *tls.Config {
	if d.TLS == nil {
		return nil
	}
	config := d.TLS.Clone()
	config.ServerName = address.Name
	if config.ServerName == "" {
		config.ServerName = address.IP
	}
	return config
}

type conn struct{ client valkey.Client }

// Do implements node.Conn.
func (c *conn) Do(ctx context.Context, commands ...node.Command) []node.Reply {
	built := make(valkey.Commands, len(commands))
	for i, command := range commands {
		built[i] = c.client.B().Arbitrary(command...).Build()
	}
	replies := make([]node.Reply, len(commands))
	for i, result := range c.client.DoMulti(ctx, built...) {
		value, err := result.ToAny()
		switch {
		case err == nil:
			replies[i].Value = value
		case !valkey.IsValkeyNil(err):
			replies[i].Err = translate(err)
		}
	}
	return replies
}

// Close implements node.Conn.
func (c *conn) Close() { c.client.Close() }

// translate keeps the library's types from its callers.
func translate(err error) error {
	if refused, ok := valkey.IsValkeyErr(err); ok {
		return &node.RefusedError{Words: refused.Error()}
	}
	return err
}
