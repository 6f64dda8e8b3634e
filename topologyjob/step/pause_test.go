// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package step

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/plan"
	"github.com/valkey-render/valkey-render/topologyjob/plan/replication"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// scene is servers and a sentinel that say what they are told to, and what they were sent that
// changes something, with its time.
type scene struct {
	began time.Time
	sent  []string
	// offset is how far a pod is.
	offset func(pod string) int64
	// on is called before a command is answered, and returns why it is not.
	on func(ctx context.Context, pod string, command node.Command) error
}

func (s *scene) Dial(ctx context.Context, address node.Address) (node.Conn, error) {
	return &sceneConn{scene: s, pod: address.IP}, ctx.Err()
}

type sceneConn struct {
	*scene
	pod    string
	closed bool
}

func (c *sceneConn) Close() { c.closed = true }

func (c *sceneConn) Do(ctx context.Context, commands ...node.Command) []node.Reply {
	replies := make([]node.Reply, len(commands))
	for i, command := range commands {
		if replies[i].Err = ctx.Err(); c.closed {
			replies[i].Err = errors.New("closed")
		}
		if replies[i].Err != nil {
			continue
		}
		if command.Changes() {
			c.sent = append(c.sent, fmt.Sprintf("%s %s %s", time.Since(c.began).Round(time.Second), c.pod, command))
		}
		if replies[i].Err = c.on(ctx, c.pod, command); replies[i].Err == nil {
			replies[i].Value = c.says(command)
		}
	}
	return replies
}

func (c *sceneConn) says(command node.Command) any {
	switch command.String() {
	case "SENTINEL MYID":
		return "id-" + c.pod
	case "SENTINEL MASTER primary", "SENTINEL MASTER " + primaryName:
		return []any{"ip", "c-0-0", "port", "6379", "flags", "master", "quorum", "2", "config-epoch", "1"}
	}
	if command[0] != "INFO" {
		return "OK"
	}
	role := "role:slave\nmaster_host:c-0-0\nmaster_port:6379\nmaster_link_status:up\nmaster_last_io_seconds_ago:0\nslave_priority:100\nslave_repl_offset:%d\n"
	if c.pod == "c-0-0" {
		role = "role:master\nmaster_repl_offset:%d\n"
	}
	return "run_id:id-" + c.pod + "\nmaster_replid:aa\nserver_time_usec:1\nuptime_in_seconds:1\nmaster_failover_state:no-failover\n" + fmt.Sprintf(role, c.offset(c.pod))
}

// env is what steps act with in a scene of a primary with replicas and a sentinel.
func (s *scene) env(pods ...string) Env {
	s.began = time.Now()
	if s.on == nil {
		s.on = func(context.Context, string, node.Command) error { return nil }
	}
	if s.offset == nil {
		s.offset = func(string) int64 { return 100 }
	}
	e := Env{Pool: node.NewPool(s), Now: time.Now, Patience: 5 * time.Second, Sleep: func(ctx context.Context, d time.Duration) error {
		select {
		case <-time.After(d):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}}
	e.answers = map[string]*survey.Answer{}
	for _, pod := range pods {
		e.answers[pod] = &survey.Answer{
			Pod: survey.Pod{Name: pod, Host: pod, Port: 6379}, Address: node.Address{IP: pod, Port: 6379}, ID: "id-" + pod, LinkUp: pod != "c-0-0",
			Replication: &survey.Replication{Primary: pod == "c-0-0", Priority: 100},
		}
	}
	e.sentinels = map[string]*survey.Sentinel{"sentinel": {Address: node.Address{IP: "sentinel", Port: 26379}, ID: "id-sentinel"}}
	return e
}

func (s *scene) at(pod string) plan.Ref { return plan.Ref{Pod: pod, ID: "id-" + pod} }

// handover is one by the sentinel.
func (s *scene) handover(ctx context.Context, e Env) error {
	return e.handoverBySentinel(ctx, replication.Handover{Primary: s.at("c-0-0"), Replica: s.at("c-0-1"), Sentinels: []plan.Ref{s.at("sentinel")}})
}

func (s *scene) expect(t *testing.T, want ...string) {
	t.Helper()
	if got := strings.Join(s.sent, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("sent:\n%s", got)
	}
}

func is(command node.Command, words string) bool { return strings.HasPrefix(command.String(), words) }

const (
	pauses   = "c-0-0 CLIENT PAUSE 20000 WRITE"
	unpauses = "c-0-0 CLIENT UNPAUSE"
)

// TestWritesGoOnWhenAJobIsToldToStop before the sentinels were asked for anything.
func TestWritesGoOnWhenAJobIsToldToStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := scene{on: func(_ context.Context, _ string, c node.Command) error {
			if is(c, "CLIENT PAUSE") {
				cancel()
			}
			return nil
		}}
		if err := s.handover(ctx, s.env("c-0-0", "c-0-1")); err == nil {
			t.Error("no error")
		}
		s.expect(t, "0s "+pauses, "0s "+unpauses)
	})
}

// TestReplicasThatDoNotCatchUpAreWaitedForTogether: the pause is not used up by them one after
// the other.
func TestReplicasThatDoNotCatchUpAreWaitedForTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		s := scene{offset: func(pod string) int64 {
			// Each is there four seconds after the one before.
			for i, name := range []string{"c-0-1", "c-0-2", "c-0-3", "c-0-4"} {
				if pod == name && time.Since(began) < time.Duration(4*i+4)*time.Second {
					return 50
				}
			}
			return 100
		}}
		err := s.handover(t.Context(), s.env("c-0-0", "c-0-1", "c-0-2", "c-0-3", "c-0-4"))
		if _, unproven := errors.AsType[*UnprovenError](err); !unproven {
			t.Error(err)
		}
		s.expect(t, "0s "+pauses, "5s "+unpauses)
	})
}

// TestSentinelsHaveTheWholePause, and the replica what was written when the first one was over
// too early.
func TestSentinelsHaveTheWholePause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, pausing, written := time.Now(), 0, int64(100)
		s := scene{offset: func(pod string) int64 {
			switch since := time.Since(began); {
			case pod == "c-0-0":
				return written
			case since < 2*time.Second:
				return 50
			case since < 4*time.Second:
				return 100
			}
			return 200
		}}
		s.on = func(_ context.Context, _ string, c node.Command) error {
			if is(c, "CLIENT PAUSE") {
				if pausing++; pausing == 2 {
					written = 200
				}
			}
			if is(c, "SENTINEL FAILOVER") {
				return &node.RefusedError{Words: "NOGOODSLAVE No suitable replica to promote"}
			}
			return nil
		}
		if err := s.handover(t.Context(), s.env("c-0-0", "c-0-1")); err == nil {
			t.Error("no error")
		}
		s.expect(t, "0s "+pauses, "2s "+pauses, "4s sentinel SENTINEL FAILOVER "+primaryName, "4s "+unpauses)
	})
}

// TestWritesGoOnAfterALostConnection: neither one that breaks while they are stopped nor a PAUSE
// whose answer is not there leaves them stopped.
func TestWritesGoOnAfterALostConnection(t *testing.T) {
	for _, at := range []string{"CLIENT PAUSE", "INFO"} {
		t.Run(at, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				broken := false
				s := scene{}
				s.on = func(_ context.Context, _ string, c node.Command) error {
					if is(c, at) && len(s.sent) > 0 && !broken {
						broken = true
						return errors.New("connection reset")
					}
					return nil
				}
				e := s.env("c-0-0")
				p, _, err := e.server(t.Context(), s.at("c-0-0"))
				if err != nil {
					t.Fatal(err)
				}
				err = e.quiet(t.Context(), p, 20*time.Second, func(survey.Answer) error { return nil })
				if err == nil || !strings.Contains(err.Error(), "connection reset") {
					t.Error(err)
				}
				s.expect(t, "0s "+pauses, "0s "+unpauses)
			})
		})
	}
}
