// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package converge_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/valkey-render/valkey-render/internal/clustertest"
	"github.com/valkey-render/valkey-render/internal/servertest"
	"github.com/valkey-render/valkey-render/topologyjob/converge"
)

// TestProcessReplicationHandover under acknowledged writes: none of them is lost.
func TestProcessReplicationHandover(t *testing.T) {
	t.Parallel()
	perVersion(t, func(t *testing.T, version string) {
		c := clustertest.NewReplication(t, version, 3)
		settled(t, c, converge.Bootstrap)
		writer := c.Write(4)
		busy(t, c)
		// Twice: off a pod that is about to go, and to one that is asked for.
		c.Desired.Vacate = []string{"c-0-0"}
		if out := settled(t, c, converge.Handover); out.Steps["handover"] != 1 {
			t.Errorf("%+v", out)
		}
		leads(t, c, 1)
		busy(t, c)
		c.Desired.Vacate, c.Desired.Primary = nil, "c-0-2"
		settled(t, c, converge.Handover)
		leads(t, c, 2)
		busy(t, c)
		// One pod less is wanted: its primary moves first.
		c.Desired.Primary, c.Desired.Replicas = "", 1
		settled(t, c, converge.Repair)
		leads(t, c, 0)
		busy(t, c)
		c.Synced()
		seen := writer.Stop()
		t.Logf("%d writes acknowledged, longest stall %s", seen.Acknowledged, seen.Stall)
		if len(seen.Lost) > 0 || seen.Acknowledged == 0 {
			t.Errorf("%+v", seen)
		}
	})
}

// busy waits until the primary has taken many commands more.
func busy(t *testing.T, c *clustertest.Cluster) {
	t.Helper()
	commands := func() int {
		n, err := strconv.Atoi(c.Primary().Info()["total_commands_processed"])
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	begin := commands()
	eventually(t, "the primary takes writes", func() bool { return commands() > begin+1000 })
}

// crashes stops a Job after its 0th, 1st, 2nd … command that changes something and starts
// it again, until one comes to its end unstopped. It returns how many were stopped.
func crashes(t *testing.T, begin func() (*clustertest.Cluster, converge.Kind), proof func(*clustertest.Cluster)) {
	t.Helper()
	for after := 0; ; after++ {
		c, kind := begin()
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
		crash := &clustertest.Crash{Dialer: clustertest.Dialer(), After: after, Stop: cancel}
		converge.Run(ctx, c.Options(kind, crash))
		cancel()
		if out := run(t, c, kind); out.Result != converge.Converged {
			t.Fatalf("stopped after %q: %+v", crash.Sent(), out)
		}
		proof(c)
		for _, p := range c.Pods {
			if p.Server != nil {
				p.Server.Stop()
			}
		}
		if !crash.Stopped() {
			t.Logf("%d commands: %q", len(crash.Sent()), crash.Sent())
			return
		}
		if after > 30 {
			t.Fatal("never came to its end")
		}
	}
}

// TestProcessReplicationStoppedAnywhere: bootstrap, handover and failover end in the same
// place whenever they are stopped, with every key.
func TestProcessReplicationStoppedAnywhere(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func(c *clustertest.Cluster) converge.Kind{
		"bootstrap": func(*clustertest.Cluster) converge.Kind { return converge.Bootstrap },
		"handover": func(c *clustertest.Cluster) converge.Kind {
			c.Desired.Vacate = []string{"c-0-0"}
			return converge.Handover
		},
		"failover": func(c *clustertest.Cluster) converge.Kind {
			c.Pod(0, 0).Stop()
			return converge.Failover
		},
		"emptied": func(c *clustertest.Cluster) converge.Kind {
			p := c.Pod(0, 0)
			p.Stop()
			p.Wipe()
			p.Unfenced = true
			p.Start()
			return converge.Repair
		},
	} {
		for _, version := range servertest.Sample(t) {
			t.Run(name+"/"+version, func(t *testing.T) {
				t.Parallel()
				leader := int32(1)
				if name == "bootstrap" {
					leader = 0
				}
				crashes(t, func() (*clustertest.Cluster, converge.Kind) {
					c := clustertest.NewReplication(t, version, 3)
					if name != "bootstrap" {
						settled(t, c, converge.Bootstrap)
						c.Fill(50)
						c.Synced()
					}
					return c, begin(c)
				}, func(c *clustertest.Cluster) {
					leads(t, c, leader)
					if n := c.Missing(50); name != "bootstrap" && n > 0 {
						t.Errorf("%d keys missing", n)
					}
					if name == "bootstrap" {
						c.Fill(1)
					}
				})
			})
		}
	}
}

// TestProcessStandalone is done when its one server answers.
func TestProcessStandalone(t *testing.T) {
	t.Parallel()
	perVersion(t, func(t *testing.T, version string) {
		c := clustertest.NewReplication(t, version, 1)
		if out := settled(t, c, converge.Converge); len(out.Steps) > 0 {
			t.Errorf("%+v", out)
		}
		c.Fill(10)
		c.Pod(0, 0).Stop()
		if out := stays(t, c, converge.Bootstrap, time.Second); out.Message == "" {
			t.Errorf("%+v", out)
		}
	})
}
