// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/valkey-render/valkey-render/internal/servertest"
)

// link is a connection to a server, logged in.
type link struct {
	conn *servertest.Client
	// server is the address that the server itself sees it at: a Service has another.
	server string
	// used: it has answered a command.
	used bool
}

// dialer makes links. The password may change between two.
type dialer struct {
	timeout time.Duration

	mu       sync.Mutex
	password string
}

func (d *dialer) set(password string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.password = password
}

func (d *dialer) dial(address string) (*link, error) {
	socket, err := net.DialTimeout("tcp", address, d.timeout)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	password := d.password
	d.mu.Unlock()
	l := &link{conn: servertest.Over(socket).Within(d.timeout), server: address}
	if password != "" {
		if _, err := l.conn.Do("AUTH", password); err != nil {
			_ = l.conn.Close()
			return nil, err
		}
	}
	reply, err := l.conn.Do("CLIENT", "INFO")
	if err != nil {
		_ = l.conn.Close()
		return nil, err
	}
	text, _ := reply.(string)
	for word := range strings.FieldsSeq(text) {
		if at, is := strings.CutPrefix(word, "laddr="); is {
			l.server = at
		}
	}
	return l, nil
}

// closed tells whether an error says that the other end had closed a connection.
func closed(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// kind is a short name of why a write failed.
func kind(err error) string {
	if refused, is := errors.AsType[servertest.ReplyError](err); is {
		word, _, _ := strings.Cut(string(refused), " ")
		return word
	}
	dialing := ""
	if op, is := errors.AsType[*net.OpError](err); is && op.Op == "dial" {
		dialing = "dial: "
	}
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return dialing + "timeout"
	case closed(err):
		return "closed"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "refused"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "unreachable"
	}
	return fmt.Sprintf("%s%T", dialing, err)
}
