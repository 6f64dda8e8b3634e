// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package converge_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/valkey-render/valkey-render/internal/clustertest"
	"github.com/valkey-render/valkey-render/topologyjob/converge"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// TestProcessSentinelBootstrapAndHandover: the sentinels are told of the primary, stopped at
// any command or not, and hand it over without a lost write.
func TestProcessSentinelBootstrapAndHandover(t *testing.T) {
	t.Parallel()
	perVersion(t, func(t *testing.T, version string) {
		c := clustertest.NewReplication(t, version, 3)
		c.Watch(3, nil)
		// Stopped after every second command, until it is through.
		for after := 1; ; after += 2 {
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
			crash := &clustertest.Crash{Dialer: clustertest.Dialer(), After: 2, Stop: cancel}
			converge.Run(ctx, c.Options(converge.Bootstrap, crash))
			cancel()
			if !crash.Stopped() {
				break
			}
			if after > 60 {
				t.Fatal("never came to its end")
			}
		}
		leads(t, c, 0)
		for _, w := range c.View(clustertest.Dialer()).Sentinels {
			if w.Watched == nil || w.Watched.Quorum != 2 || len(w.Watched.Replicas) != 2 || len(w.Watched.Sentinels) != 2 || w.Watched.DownAfter != 3*time.Second {
				t.Errorf("%+v", w)
			}
		}
		writer := c.Write(4)
		busy(t, c)
		c.Desired.Vacate = []string{"c-0-0", "c-0-1"}
		if out := settled(t, c, converge.Handover); out.Steps["handover"] != 1 || out.Steps["priority"] == 0 {
			t.Errorf("%+v", out)
		}
		leads(t, c, 2)
		busy(t, c)
		c.Synced()
		seen := writer.Stop()
		t.Logf("%d writes acknowledged, longest stall %s", seen.Acknowledged, seen.Stall)
		if len(seen.Lost) > 0 || seen.Acknowledged == 0 {
			t.Errorf("%+v", seen)
		}
		c.Desired.Vacate = nil
		settled(t, c, converge.Repair)
		for _, p := range c.Sorted() {
			if p.Place.Index != 2 && p.Info()["slave_priority"] != "100" {
				t.Errorf("pod %s has replica-priority %s", p.Place.Name, p.Info()["slave_priority"])
			}
		}
	})
}

// TestProcessSentinelsFailOver and the Job does not. What is gone is forgotten by the
// sentinels afterwards, one by one.
func TestProcessSentinelsFailOver(t *testing.T) {
	t.Parallel()
	perVersion(t, func(t *testing.T, version string) {
		c := clustertest.NewReplication(t, version, 3)
		c.Watch(3, nil)
		settled(t, c, converge.Bootstrap)
		c.Fill(100)
		c.Synced()
		p := c.Pod(0, 0)
		p.Stop()
		p.Wipe()
		out := settled(t, c, converge.Failover)
		if out.Steps["elect"] != 0 || out.Steps["unwatch"] != 0 {
			t.Errorf("the Job acted: %+v", out)
		}
		if c.Primary() == p || c.Missing(100) > 0 {
			t.Errorf("%d keys missing", c.Missing(100))
		}
		c.Desired.Patience = 5 * time.Second
		p.Start()
		settled(t, c, converge.Repair)
		// One sentinel less.
		last := c.Sentinels[2]
		last.Server.Stop()
		c.Sentinels = c.Sentinels[:2]
		c.Desired.Sentinels = 2
		if out := settled(t, c, converge.Repair); out.Steps["reset"] == 0 {
			t.Errorf("%+v", out)
		}
		for _, w := range c.View(clustertest.Dialer()).Sentinels {
			if len(w.Watched.Replicas) != 2 || len(w.Watched.Sentinels) != 1 {
				t.Errorf("%+v", w.Watched)
			}
		}
	})
}

// TestProcessSentinelsThatCannot: all servers have moved, and the sentinels look for the
// primary where nobody is. After their time it is taken from them and they are told of the
// one that is elected.
func TestProcessSentinelsThatCannot(t *testing.T) {
	t.Parallel()
	perVersion(t, func(t *testing.T, version string) {
		c := clustertest.NewReplication(t, version, 3)
		c.Watch(3, nil)
		settled(t, c, converge.Bootstrap)
		c.Fill(100)
		c.Synced()
		for _, p := range c.Sorted() {
			if _, err := p.Server.Do("SAVE"); err != nil {
				t.Fatal(err)
			}
		}
		for _, p := range c.Sorted() {
			p.Stop()
		}
		for _, p := range c.Sorted() {
			p.Start()
		}
		c.Desired.Patience = 10 * time.Minute
		// They try by themselves all the while.
		if out := stays(t, c, converge.Repair, 3*time.Second); !strings.Contains(out.Message, "to promote another") && !strings.Contains(out.Message, "a failover is under way") {
			t.Errorf("%+v", out)
		}
		c.Desired.Patience = 5 * time.Second
		if out := settled(t, c, converge.Repair); out.Steps["unwatch"] != 1 || out.Steps["elect"] != 1 || out.Steps["watch"] != 1 || c.Missing(100) > 0 {
			t.Errorf("%+v", out)
		}
		// Without a majority of them nothing is done.
		for i := range 2 {
			c.Sentinels[i].Server.Stop()
			c.Sentinels[i].Place.Runs = survey.Stopped
		}
		c.Pod(0, 1).Restart()
		if out := stays(t, c, converge.Repair, 3*time.Second); !strings.Contains(out.Message, "1 of 3 sentinels answer") {
			t.Errorf("%+v", out)
		}
	})
}

// TestProcessSentinelHandoverStoppedAnywhere: whatever command was the last, the next Job
// ends with one primary elsewhere and every key.
func TestProcessSentinelHandoverStoppedAnywhere(t *testing.T) {
	t.Parallel()
	perVersion(t, func(t *testing.T, version string) {
		c := clustertest.NewReplication(t, version, 3)
		c.Watch(3, nil)
		settled(t, c, converge.Bootstrap)
		c.Fill(50)
		for after := 0; ; after++ {
			c.Synced()
			old := c.Primary()
			c.Desired.Vacate = []string{old.Place.Name}
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
			crash := &clustertest.Crash{Dialer: clustertest.Dialer(), After: after, Stop: cancel}
			converge.Run(ctx, c.Options(converge.Handover, crash))
			cancel()
			settled(t, c, converge.Handover)
			if n := c.Missing(50); n > 0 || c.Primary() == old {
				t.Fatalf("stopped after %q: %d keys missing", crash.Sent(), n)
			}
			if !crash.Stopped() {
				t.Logf("%d commands: %q", len(crash.Sent()), crash.Sent())
				return
			}
		}
	})
}

// TestProcessSentinelResetStoppedAnywhere: a replica has moved, and one after the other the
// sentinels are made to forget where it was. What is sent is the same for every version.
func TestProcessSentinelResetStoppedAnywhere(t *testing.T) {
	t.Parallel()
	c := clustertest.NewReplication(t, "9.1", 3)
	c.Watch(3, nil)
	settled(t, c, converge.Bootstrap)
	c.Fill(50)
	c.Synced()
	c.Desired.Patience = time.Second
	for after := 0; ; after++ {
		old := c.Pod(0, 2).Place.Port
		c.Pod(0, 2).Restart()
		eventually(t, "the sentinels miss the replica", func() bool {
			return everySentinel(c, func(w *survey.Watched) bool {
				return slices.ContainsFunc(w.Replicas, func(k survey.Known) bool { return k.Port == old && k.Down() })
			})
		})
		crash := crashed(t, c, converge.Repair, after)
		settled(t, c, converge.Repair)
		leads(t, c, 0)
		if n := c.Missing(50); n > 0 || !everySentinel(c, func(w *survey.Watched) bool { return len(w.Replicas) == 2 && len(w.Sentinels) == 2 }) {
			t.Errorf("stopped after %q: %d keys missing, %+v", crash.Sent(), n, c.View(clustertest.Dialer()).Sentinels)
		}
		if !crash.Stopped() {
			if n := strings.Count(strings.Join(crash.Sent(), "\n"), "RESET"); n != 3 {
				t.Errorf("%d resets: %q", n, crash.Sent())
			}
			return
		}
	}
}

// TestProcessSentinelUnwatchStoppedAnywhere: all servers have moved at once. The sentinels
// are made to let go, one is elected, and they watch that one; those commands of a watch
// that follow the first are stopped at by TestProcessSentinelBootstrapAndHandover.
func TestProcessSentinelUnwatchStoppedAnywhere(t *testing.T) {
	t.Parallel()
	c := clustertest.NewReplication(t, "9.1", 2)
	c.Watch(3, nil)
	for _, w := range c.Sentinels {
		// There is nobody to promote, so that an election is only waited for.
		if _, err := w.Server.Do("SENTINEL", "DEBUG", "ELECTION-TIMEOUT", "1000"); err != nil {
			t.Fatal(err)
		}
	}
	settled(t, c, converge.Bootstrap)
	c.Fill(50)
	c.Desired.Patience = time.Second
	var sent string
	for after := 0; !strings.Contains(sent, "MONITOR"); after++ {
		c.Synced()
		for _, p := range c.Sorted() {
			if _, err := p.Server.Do("SAVE"); err != nil {
				t.Fatal(err)
			}
		}
		for _, p := range c.Sorted() {
			p.Stop()
		}
		for _, p := range c.Sorted() {
			p.Start()
		}
		crash := crashed(t, c, converge.Repair, after)
		settled(t, c, converge.Repair)
		sent = strings.Join(crash.Sent(), "\n")
		if n := c.Missing(50); n > 0 {
			t.Errorf("stopped after %s: %d keys missing", sent, n)
		}
		at := c.Primary().Server.Port
		if !everySentinel(c, func(w *survey.Watched) bool { return w.Port == at && w.Quorum == 2 }) {
			t.Errorf("stopped after %s: %+v", sent, c.View(clustertest.Dialer()).Sentinels)
		}
	}
	if strings.Count(sent, "REMOVE") != 3 || !strings.Contains(sent, "REPLICAOF NO ONE") {
		t.Errorf("another way: %s", sent)
	}
}

// everySentinel reports whether something is true of all that sentinels watch.
func everySentinel(c *clustertest.Cluster, is func(*survey.Watched) bool) bool {
	for _, w := range c.View(clustertest.Dialer()).Sentinels {
		if w.Watched == nil || !is(w.Watched) {
			return false
		}
	}
	return true
}

// crashed runs and is stopped after so many commands that change something.
func crashed(t *testing.T, c *clustertest.Cluster, kind converge.Kind, after int) *clustertest.Crash {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	crash := &clustertest.Crash{Dialer: clustertest.Dialer(), After: after, Stop: cancel}
	if out := converge.Run(ctx, c.Options(kind, crash)); !crash.Stopped() && out.Result != converge.Converged {
		t.Fatalf("%+v", out)
	}
	return crash
}
