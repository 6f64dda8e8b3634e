// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

//go:build cluster

package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	// recovery is how long clusters may take to be Ready again after the last fault of a
	// round has ended and what was asked for was accepted. Nodes come back within it, pods
	// start anew, and kubelets let a container wait that ended several times.
	recovery = 6 * time.Minute
	// workers is the last node that is stopped or cut off; the first one has the writers.
	firstWorker, workers = 2, 3
)

// soak is a run of random operations and faults on clusters that are written to.
type soak struct {
	*testing.T
	subjects []*subject
	seed     uint64

	mu     sync.Mutex
	deaths []death
	done   map[string]int // operations and faults
}

// TestFaultSoak does to a Durable Cluster and to a Replication what SOAK leaves time for:
// rolls, shards more and less, rotations of passwords, and, during them and between them,
// the ends of pods, processes, nodes, networks, Jobs, the reconciler and the API server, two
// of them at a time now and then. After each round both clusters are Ready again with what
// was asked for. In the end every write that was acknowledged is there, or its primary died
// within seconds. SOAKSEED draws the same again.
func TestFaultSoak(t *testing.T) {
	length, err := time.ParseDuration(os.Getenv("SOAK"))
	if err != nil {
		t.Fatalf("SOAK: %v", err)
	}
	s := &soak{T: t, seed: uint64(time.Now().UnixNano() % 1_000_000), done: map[string]int{}}
	if text := os.Getenv("SOAKSEED"); text != "" {
		if s.seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("SOAKSEED: %v", err)
		}
	}
	t.Logf("SOAK=%s SOAKSEED=%d", length, s.seed)
	s.subjects = []*subject{newSharded(t), newReplicated(t)}
	for _, sub := range s.subjects {
		sub.begins()
	}
	begun := time.Now()
	for n := 1; time.Since(begun) < length; n++ {
		s.round(n)
	}
	t.Logf("SOAKSEED=%d, %s: %v", s.seed, time.Since(begun).Round(time.Second), s.done)
	for _, sub := range s.subjects {
		s.explained(sub, sub.writer.stop())
	}
}

// round is an operation, or none, with faults meanwhile, all of which the seed and the number
// decide, and the way back to Ready.
func (s *soak) round(n int) {
	s.Helper()
	random := rand.New(rand.NewPCG(s.seed, uint64(n)))
	sub, asked := s.operation(random)
	faults := s.faults(random, asked.name != "")
	s.Logf("%s round %d: %s", clock(), n, plan(sub, asked, faults))
	begun := time.Now()
	ctx, cancel := context.WithTimeout(s.Context(), recovery)
	defer cancel()
	ended := make(chan error, len(faults))
	for _, f := range faults {
		go func() {
			err := pause(ctx, f.after)
			if err == nil {
				s.Logf("%s   %s", clock(), f)
				err = f.do(ctx)
			}
			if err != nil {
				err = fmt.Errorf("%s: %w", f, err)
			}
			ended <- err
		}()
	}
	err := asked.do(ctx)
	for range faults {
		if failed := <-ended; failed != nil {
			s.Errorf("round %d: %v", n, failed)
		}
	}
	if err != nil {
		s.Fatalf("round %d: %s: %v", n, asked.name, err)
	}
	healed := time.Now()
	for _, sub := range s.subjects {
		sub.recovers(n)
		s.Logf("%s   %s Ready %s after all faults ended, %s after the round began; %s", clock(), sub.name,
			time.Since(healed).Round(100*time.Millisecond), time.Since(begun).Round(100*time.Millisecond), sub.writer.lap())
	}
}

// clock is when something is said: the logs of servers have the same.
func clock() string { return time.Now().UTC().Format("15:04:05.0") }

// plan says in a line what a round does.
func plan(sub *subject, asked operation, faults []fault) string {
	parts := []string{"nothing is asked for"}
	if asked.name != "" {
		parts[0] = sub.name + " " + asked.name
	}
	for _, f := range faults {
		parts = append(parts, f.String())
	}
	return strings.Join(parts, "; ")
}

// counted notes that something was done.
func (s *soak) counted(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done[what]++
}
