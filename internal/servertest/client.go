// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package servertest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"
)

// ReplyError is an error reply, without the leading minus sign.
type ReplyError string

func (e ReplyError) Error() string { return string(e) }

// Client is one connection that speaks RESP2. It is not for concurrent use.
type Client struct {
	conn    net.Conn
	in      *bufio.Reader
	timeout time.Duration
}

// Dial connects to "unix" and a path, or "tcp" and host:port.
func Dial(network, address string) (*Client, error) {
	conn, err := net.DialTimeout(network, address, 5*time.Second)
	if err != nil {
		return nil, err
	}
	return Over(conn), nil
}

// Over speaks through a connection that is there, such as one with TLS.
func Over(conn net.Conn) *Client {
	return &Client{conn: conn, in: bufio.NewReader(conn), timeout: 10 * time.Second}
}

// Within has each command be answered within a time; without, within 10 s.
func (c *Client) Within(timeout time.Duration) *Client {
	c.timeout = timeout
	return c
}

// Close ends the connection.
func (c *Client) Close() error { return c.conn.Close() }

// Do sends one command and returns its reply: string, int64, nil or []any (whose
// elements are of these kinds or ReplyError). An error reply is a ReplyError.
func (c *Client) Do(args ...string) (any, error) {
	out := fmt.Appendf(nil, "*%d\r\n", len(args))
	for _, arg := range args {
		out = fmt.Appendf(out, "$%d\r\n%s\r\n", len(arg), arg)
	}
	if err := c.conn.SetDeadline(time.Now().Add(c.timeout)); err != nil {
		return nil, err
	}
	if _, err := c.conn.Write(out); err != nil {
		return nil, err
	}
	reply, err := c.read()
	if err != nil {
		return nil, err
	}
	if refused, ok := reply.(ReplyError); ok {
		return nil, refused
	}
	return reply, nil
}

func (c *Client) read() (any, error) {
	line, err := c.in.ReadString('\n')
	if err != nil {
		return nil, err
	}
	if len(line) < 3 {
		return nil, fmt.Errorf("short reply line %q", line)
	}
	kind, rest := line[0], line[1:len(line)-2]
	if kind == '+' {
		return rest, nil
	}
	if kind == '-' {
		return ReplyError(rest), nil
	}
	n, err := strconv.ParseInt(rest, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("reply line %q: %w", line, err)
	}
	switch {
	case kind == ':':
		return n, nil
	case n < 0 && (kind == '$' || kind == '*'):
		return nil, nil
	case kind == '$':
		return c.readBulk(n)
	case kind == '*':
		return c.readArray(n)
	}
	return nil, fmt.Errorf("reply line %q is of no known type", line)
}

func (c *Client) readBulk(n int64) (any, error) {
	body := make([]byte, n+2)
	if _, err := io.ReadFull(c.in, body); err != nil {
		return nil, err
	}
	return string(body[:n]), nil
}

func (c *Client) readArray(n int64) (any, error) {
	list := make([]any, 0, n)
	for range n {
		element, err := c.read()
		if err != nil {
			return nil, err
		}
		list = append(list, element)
	}
	return list, nil
}

// Config returns the answer of CONFIG GET for a pattern as a map.
func (c *Client) Config(pattern string) (map[string]string, error) {
	reply, err := c.Do("CONFIG", "GET", pattern)
	if err != nil {
		return nil, err
	}
	list, ok := reply.([]any)
	if !ok || len(list)%2 != 0 {
		return nil, errors.New("the reply to CONFIG GET is no list of pairs")
	}
	config := make(map[string]string, len(list)/2)
	for i := 0; i < len(list); i += 2 {
		name, isName := list[i].(string)
		value, isValue := list[i+1].(string)
		if !isName || !isValue {
			return nil, errors.New("the reply to CONFIG GET holds something other than strings")
		}
		config[name] = value
	}
	return config, nil
}
