// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package settle

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/valkey-render/valkey-render/internal/clustertest"
	"github.com/valkey-render/valkey-render/internal/servertest"
	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/outcome"
)

// everyVersion runs a test on each server there is, side by side.
func everyVersion(t *testing.T, test func(t *testing.T, version string)) {
	for _, version := range servertest.Sample(t) {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			test(t, version)
		})
	}
}

// rig is a number of servers.
type rig struct {
	servers []*servertest.Server
	pods    []Pod
	dialer  node.Dialer
	said    said
}

type said struct {
	mu    sync.Mutex
	lines []string
}

func (s *said) add(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, text)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.lines, "\n")
}

// start starts servers with the same options; all but the first follow it when replicas
// is true.
func start(t *testing.T, version string, count int, replicas bool, opts servertest.Options) *rig {
	t.Helper()
	opts.TCP = true
	r := &rig{dialer: clustertest.Dialer()}
	for i := range count {
		one := opts
		if replicas && i > 0 {
			one.Args = append([]string{"--replicaof", "127.0.0.1 " + strconv.Itoa(r.servers[0].Port)}, opts.Args...)
		}
		r.add(servertest.Start(t, version, one), false)
	}
	return r
}

func (r *rig) add(s *servertest.Server, sentinel bool) {
	r.pods = append(r.pods, Pod{Name: fmt.Sprintf("c-0-%d", len(r.pods)), Host: "127.0.0.1", Port: s.Port, Sentinel: sentinel})
	r.servers = append(r.servers, s)
}

// options are those of one run, as a new process would have them.
func (r *rig) options(t *testing.T, dialer node.Dialer) Options {
	t.Helper()
	pool := node.NewPool(dialer)
	t.Cleanup(pool.Close)
	return Options{Pods: r.pods, Pool: pool, Clock: clustertest.Clock{}, Wait: true, Timeout: 20 * time.Second, OnStep: r.said.add}
}

// within bounds a run that has to come to an end by itself.
func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func want(t *testing.T, r Report, result outcome.Result, reason string, words ...string) {
	t.Helper()
	if r.Result != result || r.Reason != reason {
		t.Fatalf("%s (%s): %s; want %s (%s)", r.Result, r.Reason, r.Message, result, reason)
	}
	for _, w := range words {
		if !strings.Contains(r.Message, w) {
			t.Errorf("message lacks %q: %s", w, r.Message)
		}
	}
}

// crashes runs a run again and again, stopped before its first, second, third … command
// that changes something, and whole in between, until it gets through. It returns how
// many such commands that took. prepare makes the state it begins with. With a stride only every
// so manieth command is one to stop before.
func crashes(t *testing.T, stride int, dialer node.Dialer, prepare func(), try func(ctx context.Context, dialer node.Dialer) Report, check func()) (commands int) {
	t.Helper()
	for after := 0; ; after += stride {
		prepare()
		ctx, stop := context.WithCancel(within(t))
		crash := &clustertest.Crash{Dialer: dialer, After: after, Stop: stop}
		report := try(ctx, crash)
		stop()
		if !crash.Stopped() {
			want(t, report, outcome.Converged, "")
			check()
			return len(crash.Sent())
		}
		want(t, try(within(t), dialer), outcome.Converged, "")
		check()
	}
}
