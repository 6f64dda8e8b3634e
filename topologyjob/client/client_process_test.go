// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/valkey-render/valkey-render/internal/servertest"
	"github.com/valkey-render/valkey-render/topologyjob/node"
)

func passwords(list ...string) func() ([]string, error) {
	return func() ([]string, error) { return list, nil }
}

func started(t *testing.T, version string, args ...string) (*servertest.Server, node.Address) {
	t.Helper()
	s := servertest.Start(t, version, servertest.Options{TCP: true, Args: args})
	return s, node.Address{IP: "127.0.0.1", Port: s.Port}
}

func TestProcessRepliesHaveTheirKinds(t *testing.T) {
	t.Parallel()
	for _, version := range servertest.Versions() {
		_, address := started(t, version, "--cluster-enabled", "yes")
		c, err := Dialer{}.Dial(t.Context(), address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		replies := c.Do(t.Context(), node.Cmd("PING"), node.Cmd("DBSIZE"), node.Cmd("CLUSTER", "NOSUCH"), node.Cmd("GET", "key"), node.Cmd("ROLE"))
		if text, err := replies[0].Text(); text != "PONG" || err != nil {
			t.Errorf("%s: PING: %q, %v", version, text, err)
		}
		if n, err := replies[1].Int(); n != 0 || err != nil {
			t.Errorf("%s: DBSIZE: %d, %v", version, n, err)
		}
		var refused *node.RefusedError
		if !errors.As(replies[2].Err, &refused) || refused.Code() != "ERR" {
			t.Errorf("%s: an unknown subcommand: %v", version, replies[2])
		}
		if !errors.As(replies[3].Err, &refused) || refused.Code() != "CLUSTERDOWN" {
			t.Errorf("%s: GET without slots: %v", version, replies[3])
		}
		if list, ok := replies[4].Value.([]any); !ok || len(list) != 3 || list[0] != "master" {
			t.Errorf("%s: ROLE: %#v", version, replies[4].Value)
		}
	}
}

func TestProcessEitherPasswordLogsIn(t *testing.T) {
	t.Parallel()
	for _, version := range servertest.Versions() {
		s := servertest.Start(t, version, servertest.Options{TCP: true, Conf: "user _operator on >right ~* +@all\nuser default off\n"})
		address := node.Address{IP: "127.0.0.1", Port: s.Port}
		for _, list := range [][]string{{"right"}, {"right", "next"}, {"old", "right"}, {"", "right"}} {
			c, err := Dialer{Username: "_operator", Passwords: passwords(list...)}.Dial(t.Context(), address)
			if err != nil {
				t.Fatalf("%s: %v: %v", version, list, err)
			}
			if who, err := node.Ask(t.Context(), c, "ACL", "WHOAMI").Text(); who != "_operator" || err != nil {
				t.Errorf("%s: logged in as %q, %v", version, who, err)
			}
			c.Close()
		}
		for _, list := range [][]string{{"wrong"}, {"wrong", "worse"}, {""}, nil} {
			_, err := Dialer{Username: "_operator", Passwords: passwords(list...)}.Dial(t.Context(), address)
			if err == nil {
				t.Fatalf("%s: logged in with %v", version, list)
			}
			for _, secret := range list {
				if secret != "" && strings.Contains(err.Error(), secret) {
					t.Errorf("the error tells the password: %v", err)
				}
			}
		}
	}
}

func TestProcessNoConnectionIsMadeTwice(t *testing.T) {
	t.Parallel()
	s, address := started(t, "9.1")
	c, err := Dialer{}.Dial(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := s.Do("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if reply := node.Ask(t.Context(), c, "PING"); reply.Err == nil {
			t.Fatal("a closed connection answers")
		}
	}
}

func TestProcessSilenceEndsWithTheContext(t *testing.T) {
	t.Parallel()
	s, address := started(t, "9.1")
	c, err := Dialer{Timeout: time.Minute}.Dial(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	freeze(t, s)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if reply := node.Ask(ctx, c, "PING"); !errors.Is(reply.Err, context.DeadlineExceeded) {
		t.Errorf("PING of a frozen server: %v", reply)
	}
	if _, err := (Dialer{Timeout: time.Minute}).Dial(ctx, address); err == nil {
		t.Error("connected to a frozen server")
	}
	ctx, cancel = context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := (Dialer{Timeout: 100 * time.Millisecond}).Dial(ctx, address); err == nil || ctx.Err() != nil {
		t.Errorf("connecting to a frozen server: %v", err)
	}
}

func freeze(t *testing.T, s *servertest.Server) {
	t.Helper()
	if err := s.Process().Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
}

// TestProcessConnectionsOutliveWhatTheyWereMadeIn: what was left of the context when a connection
// was made is not for how long servers may be silent on it ever after. Who expects a server to be
// silent for longer says so.
func TestProcessConnectionsOutliveWhatTheyWereMadeIn(t *testing.T) {
	t.Parallel()
	s, address := started(t, "9.1")
	brief, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	conns := map[string]node.Conn{}
	var err error
	if conns["made in a brief context"], err = (Dialer{Timeout: time.Minute}).Dial(brief, address); err != nil {
		t.Fatal(err)
	}
	if conns["with patience"], err = (Dialer{Timeout: 500 * time.Millisecond}).Dial(node.WithPatience(t.Context(), time.Minute), address); err != nil {
		t.Fatal(err)
	}
	freeze(t, s)
	// The client looks once a second whether a silent server is there.
	time.AfterFunc(4*time.Second, func() { _ = s.Process().Signal(syscall.SIGCONT) })
	for name, c := range conns {
		if reply := node.Ask(t.Context(), c, "PING"); reply.Err != nil {
			t.Errorf("%s: PING of a server that was frozen for a while: %v", name, reply.Err)
		}
		c.Close()
	}
}
