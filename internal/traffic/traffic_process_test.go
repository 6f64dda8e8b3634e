// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package traffic_test

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/valkey-render/valkey-render/internal/clustertest"
	"github.com/valkey-render/valkey-render/internal/servertest"
	"github.com/valkey-render/valkey-render/internal/traffic"
	"github.com/valkey-render/valkey-render/topologyjob/converge"
)

// starts begins to write.
func starts(t *testing.T, p traffic.Plan, password string) *traffic.Writer {
	t.Helper()
	p.Connections, p.Rate, p.Timeout, p.Run = 12, 300, 500*time.Millisecond, "test"
	w, err := p.Start(t.Context(), password)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func stops(t *testing.T, w *traffic.Writer) traffic.Report {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r := w.Stop(ctx)
	t.Log(r)
	if r.Unread > 0 {
		t.Errorf("%d keys were not read back", r.Unread)
	}
	return r
}

// TestProcessLostKeysAreFound: those that are gone, and one that has another value; with a
// password that changes meanwhile.
func TestProcessLostKeysAreFound(t *testing.T) {
	t.Parallel()
	s := servertest.Start(t, "9.1", servertest.Options{TCP: true})
	do := func(words ...string) any {
		reply, err := s.Do(words...)
		if err != nil {
			t.Fatalf("%v: %v", words, err)
		}
		return reply
	}
	do("CONFIG", "SET", "requirepass", "first")
	w := starts(t, traffic.Plan{Address: s.Addr()}, "first")
	for written := 0; written < 100; {
		written += w.Lap().Acknowledged
	}
	do("CONFIG", "SET", "requirepass", "second")
	w.Password("second")
	do("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
	gone := map[any]string{do("RANDOMKEY"): "another"}
	for key := range gone {
		do("SET", key.(string), "another")
	}
	for len(gone) < 3 {
		key := do("RANDOMKEY")
		if _, is := gone[key]; !is {
			gone[key] = ""
			do("DEL", key.(string))
		}
	}
	r := stops(t, w)
	if r.Lost != 3 || len(r.LostKeys) != 3 || r.Acknowledged < 100 || r.Failed > 0 {
		t.Errorf("%+v", r)
	}
	for _, lost := range r.LostKeys {
		if found, is := gone[lost.Key]; !is || lost.Found != found || lost.By != s.Addr() || time.Since(lost.Acknowledged) > time.Minute {
			t.Errorf("%+v", lost)
		}
	}
}

// TestProcessAFrozenServerStalls: writes fail by time, and what is waited for is told as one
// stall.
func TestProcessAFrozenServerStalls(t *testing.T) {
	t.Parallel()
	s := servertest.Start(t, "9.1", servertest.Options{TCP: true})
	w := starts(t, traffic.Plan{Address: s.Addr()}, "")
	if err := s.Process().Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	time.Sleep(1500 * time.Millisecond)
	if err := s.Process().Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	r := stops(t, w)
	if r.LongestStall.Milliseconds < 1400 || r.Failures["timeout"] == 0 || r.Lost > 0 {
		t.Errorf("%+v", r)
	}
}

// TestProcessOnlyTheSlotsOfADeadPrimaryStall, and writes go on with its replica.
func TestProcessOnlyTheSlotsOfADeadPrimaryStall(t *testing.T) {
	t.Parallel()
	c := clustertest.New(t, "9.1", 3, 1, "--cluster-require-full-coverage", "no")
	if out := converge.Run(t.Context(), c.Options(converge.Bootstrap, clustertest.Dialer())); out.Result != converge.Converged {
		t.Fatalf("%+v", out)
	}
	c.Synced()
	w := starts(t, traffic.Plan{Address: fmt.Sprintf("127.0.0.1:%d", c.Pod(0, 0).Place.Port), Cluster: true}, "")
	c.Pod(1, 0).Stop()
	for deadline := time.Now().Add(time.Minute); c.Pod(1, 1).Role() != "master"; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("nobody is promoted")
		}
	}
	time.Sleep(time.Second)
	r := stops(t, w)
	if len(r.Shards) != 3 || r.Shards[1].Slots != "5461-10922" {
		t.Fatalf("%+v", r.Shards)
	}
	dead := r.Shards[1].LongestStall
	if dead != r.LongestStall || dead.Milliseconds < 1000 || r.Shards[1].Failed == 0 || r.Shards[1].Acknowledged == 0 {
		t.Errorf("%+v", r)
	}
	for _, i := range []int{0, 2} {
		if s := r.Shards[i]; s.LongestStall.Milliseconds > dead.Milliseconds/2 || s.Failed > r.Shards[1].Failed/2 {
			t.Errorf("shard %d stalled as well: %+v", i, s)
		}
	}
	for _, lost := range r.LostKeys {
		if lost.By != fmt.Sprintf("127.0.0.1:%d", c.Pod(1, 0).Place.Port) {
			t.Errorf("%+v was not acknowledged by the one that died", lost)
		}
	}
}
