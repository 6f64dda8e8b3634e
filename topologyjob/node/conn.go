// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"
)

// Address is where a server listens.
type Address struct {
	// IP is a literal address, IPv4 or IPv6 without brackets: CLUSTER MEET takes no name.
	IP string `json:"ip"`
	// Port is the data port, the one with TLS where TLS is on.
	Port int `json:"port"`
	// Name is the DNS name that the server's certificate carries; "" verifies the IP.
	Name string `json:"name,omitempty"`
}

// String is host:port of the data port, with brackets around an IPv6 address.
func (a Address) String() string { return net.JoinHostPort(a.IP, strconv.Itoa(a.Port)) }

// Dialer connects to servers.
type Dialer interface {
	// Dial connects and authenticates within the context's deadline. A server that
	// answers and refuses is a *RefusedError.
	Dial(ctx context.Context, address Address) (Conn, error)
}

type patienceKey struct{}

// WithPatience has connections that are dialled with a context wait so long for a server that
// says nothing, where that is longer than they would by themselves: one that does a MIGRATE
// answers nobody.
func WithPatience(ctx context.Context, most time.Duration) context.Context {
	return context.WithValue(ctx, patienceKey{}, most)
}

// PatienceOf is what WithPatience said, else 0.
func PatienceOf(ctx context.Context) time.Duration {
	most, _ := ctx.Value(patienceKey{}).(time.Duration)
	return most
}

// Conn is one connection to one server. It is safe for concurrent use. It never reconnects
// by itself: what was asked on it, such as CLUSTER MYID, stays true for the process at its
// other end.
type Conn interface {
	// Do sends commands in one pipeline and returns a reply to each. It does not stop at
	// an error reply.
	Do(ctx context.Context, commands ...Command) []Reply
	// Close ends the connection; replies that are awaited become errors.
	Close()
}

// Command is the words of a command.
type Command []string

// Cmd makes a command of words.
func Cmd(words ...string) Command { return words }

// String is the command as it is typed, with arguments that may be secret left out.
func (c Command) String() string {
	words := []string(c)
	for i, word := range words {
		switch strings.ToUpper(word) {
		case "AUTH", "AUTH2", "SETUSER", "PRIMARYAUTH", "MASTERAUTH", "REQUIREPASS", "AUTH-PASS":
			return strings.Join(words[:i+1], " ") + " …"
		}
	}
	return strings.Join(words, " ")
}

// Reply is what a server answered.
type Reply struct {
	// Value is a string, int64, nil or []any, as in RESP2.
	Value any
	// Err is a *RefusedError for an error reply, else why there is none.
	Err error
}

// RefusedError is an error reply, such as "ERR Unknown node …".
type RefusedError struct {
	// Words are the server's. The code ERR is left out of them, any other is their first
	// word.
	Words string
}

func (e *RefusedError) Error() string { return "server refused: " + e.Words }

// Code is the first word: ERR, LOADING, NOPERM, WRONGPASS, NOAUTH, CLUSTERDOWN, …
func (e *RefusedError) Code() string {
	code, _, _ := strings.Cut(e.Words, " ")
	if code == "" || strings.Trim(code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		return "ERR"
	}
	return code
}

// Text returns a reply that is a string.
func (r Reply) Text() (string, error) {
	if r.Err != nil {
		return "", r.Err
	}
	text, ok := r.Value.(string)
	if !ok {
		return "", fmt.Errorf("reply %T is no string", r.Value)
	}
	return text, nil
}

// Int returns a reply that is an integer.
func (r Reply) Int() (int64, error) {
	if r.Err != nil {
		return 0, r.Err
	}
	n, ok := r.Value.(int64)
	if !ok {
		return 0, fmt.Errorf("reply %T is no integer", r.Value)
	}
	return n, nil
}

// Ask sends one command.
func Ask(ctx context.Context, conn Conn, words ...string) Reply {
	replies := conn.Do(ctx, Command(words))
	if len(replies) != 1 {
		return Reply{Err: fmt.Errorf("%s: %d replies", Command(words), len(replies))}
	}
	return replies[0]
}

// FirstError is the first error among replies.
func FirstError(replies []Reply) error {
	for _, r := range replies {
		if r.Err != nil {
			return r.Err
		}
	}
	return nil
}

// Changes reports whether a command may change a server, its data or its view of the
// cluster. What is not known to only read counts as a change.
func (c Command) Changes() bool {
	words := make([]string, 0, 2)
	for _, word := range c[:min(2, len(c))] {
		words = append(words, strings.ToUpper(word))
	}
	switch strings.Join(words, " ") {
	case "CLUSTER MYID", "CLUSTER MYSHARDID", "CLUSTER NODES", "CLUSTER INFO", "CLUSTER SLOTS", "CLUSTER SHARDS",
		"CLUSTER LINKS", "CLUSTER REPLICAS", "CLUSTER COUNT-FAILURE-REPORTS", "CLUSTER COUNTKEYSINSLOT",
		"CLUSTER GETKEYSINSLOT", "CLUSTER KEYSLOT", "CLUSTER GETSLOTMIGRATIONS", "CONFIG GET", "ACL LIST",
		"ACL USERS", "ACL GETUSER", "ACL WHOAMI", "CLIENT LIST", "MODULE LIST",
		"SENTINEL MYID", "SENTINEL MASTER", "SENTINEL REPLICAS", "SENTINEL SENTINELS":
		return false
	}
	if len(words) == 0 {
		return false
	}
	switch words[0] {
	case "PING", "INFO", "ROLE", "DBSIZE", "HELLO", "AUTH", "WAIT", "TIME", "ASKING", "DUMP", "PTTL", "SELECT", "SCAN", "EXISTS":
		return false
	}
	return true
}
