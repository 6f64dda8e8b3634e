// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package converge_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/valkey-render/valkey-render/internal/clustertest"
	"github.com/valkey-render/valkey-render/topologyjob/client"
	"github.com/valkey-render/valkey-render/topologyjob/converge"
	"github.com/valkey-render/valkey-render/topologyjob/plan"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// TestProcessAnEmptyPrimaryWipesNobody: a primary that was killed and comes back without
// its data, as a primary: it is fenced, one of its replicas is promoted, and it follows.
func TestProcessAnEmptyPrimaryWipesNobody(t *testing.T) {
	t.Parallel()
	perVersion(t, func(t *testing.T, version string) {
		c := replicated(t, version, 200)
		p := c.Pod(0, 0)
		p.Stop()
		p.Wipe()
		p.Unfenced = true
		p.Start()
		leads(t, c, 0)
		out := settled(t, c, converge.Repair)
		if out.Steps["fence"] != 1 || out.Steps["elect"] != 1 || out.Keys != 200 {
			t.Errorf("%+v", out)
		}
		leads(t, c, 1)
		if n := c.Missing(200); n > 0 {
			t.Errorf("%d keys missing", n)
		}
	})
}

// TestProcessTwoPrimaries: the one that was failed over from comes back as a primary. Its
// history is the older one, so it follows; what it took that was never replicated is
// counted. One of an unrelated history is touched by nobody until a human says so.
func TestProcessTwoPrimaries(t *testing.T) {
	t.Parallel()
	perVersion(t, func(t *testing.T, version string) {
		c := replicated(t, version, 100)
		old := c.Pod(0, 0)
		old.Freeze()
		places := c.Options(converge.Failover, clustertest.Dialer())
		// Taken for dead, and it is not.
		places.Pods[0].Runs = "Stopped"
		places.Asker.Timeout = time.Second
		if out := converge.Run(t.Context(), places); out.Result != converge.Converged {
			t.Fatalf("%+v", out)
		}
		old.Thaw()
		if _, err := old.Server.Do("SET", "late", "1"); err != nil {
			t.Fatal(err)
		}
		if out := settled(t, c, converge.Repair); out.Keys != 100 || out.Steps["attach"] != 1 {
			t.Errorf("%+v", out)
		}
		leads(t, c, 1)
		stranger := c.Pod(0, 2)
		if _, err := stranger.Server.Do("REPLICAOF", "NO", "ONE"); err != nil {
			t.Fatal(err)
		}
		for _, words := range [][]string{{"FLUSHALL"}, {"SET", "x", "1"}} {
			if _, err := stranger.Server.Do(words...); err != nil {
				t.Fatal(err)
			}
		}
		// It went on from the same history, and so did the primary.
		c.Fill(100)
		if out := stays(t, c, converge.Repair, 20*time.Second); out.Reason != plan.ForeignData || !strings.Contains(out.Message, "c-0-2") {
			t.Errorf("%+v", out)
		}
		c.Desired.Keep = "c-0-1"
		if out := settled(t, c, converge.Repair); out.Keys != 100 {
			t.Errorf("%+v", out)
		}
		if n := c.Missing(100); n > 0 {
			t.Errorf("%d keys missing", n)
		}
	})
}

// TestProcessEverythingRestarts: nobody knows the primary. Servers that loaded an RDB know
// how far they are; those that loaded an AOF do not, and a human has to say.
func TestProcessEverythingRestarts(t *testing.T) {
	t.Parallel()
	perVersion(t, func(t *testing.T, version string) {
		for storage, args := range map[string][]string{"RDB": nil, "AOF": {"--appendonly", "yes", "--appendfsync", "always"}} {
			c := clustertest.NewReplication(t, version, 2, args...)
			c.Desired.Durable = true
			settled(t, c, converge.Bootstrap)
			c.Fill(50)
			c.Synced()
			for _, p := range c.Sorted() {
				// A replica's AOF begins once it has written all that it was sent.
				eventually(t, "the AOF is written", func() bool {
					info := p.Info()
					return info["aof_rewrite_in_progress"] == "0" && info["aof_rewrite_scheduled"] == "0"
				})
				if storage == "RDB" {
					if _, err := p.Server.Do("SAVE"); err != nil {
						t.Fatal(err)
					}
				}
			}
			for _, p := range c.Sorted() {
				p.Restart()
			}
			c.Desired.Initialized = true
			if storage == "AOF" {
				if out := stays(t, c, converge.Repair, 20*time.Second); out.Reason != plan.PrimaryDown {
					t.Errorf("%+v", out)
				}
				c.Desired.Keep = "c-0-1"
			}
			if out := settled(t, c, converge.Repair); out.Keys != 50 || c.Missing(50) > 0 {
				t.Errorf("%s: %+v", storage, out)
			}
			for _, p := range c.Sorted() {
				p.Stop()
				p.Wipe()
				p.Start()
			}
			c.Desired.Keep = ""
			if out := stays(t, c, converge.Repair, 20*time.Second); out.Reason != plan.PrimaryDown || !strings.Contains(out.Message, "every pod is empty") {
				t.Errorf("%+v", out)
			}
			c.Desired.Durable = false
			settled(t, c, converge.Repair)
		}
	})
}

// TestProcessServersThatRefuse: a wrong password, a foreign primary and a replica that
// never syncs each have their reason, and nothing is changed.
func TestProcessServersThatRefuse(t *testing.T) {
	t.Parallel()
	perVersion(t, func(t *testing.T, version string) {
		c := clustertest.NewReplication(t, version, 2, "--requirepass", "hunter2", "--primaryauth", "hunter2")
		with := func(password string) converge.Options {
			o := c.Options(converge.Bootstrap, client.Dialer{Username: "default", Passwords: func() ([]string, error) { return []string{password}, nil }, Timeout: 10 * time.Second})
			return o
		}
		out := stays(t, c, converge.Bootstrap, 2*time.Second)
		if !strings.Contains(out.Message, "Denied") || strings.Contains(out.Message, "hunter2") {
			t.Errorf("%+v", out)
		}
		if out := converge.Run(t.Context(), with("hunter2")); out.Result != converge.Converged {
			t.Fatalf("%+v", out)
		}
		if _, err := c.Pod(0, 1).Server.Do("AUTH", "hunter2"); err != nil {
			t.Fatal(err)
		}
		for _, words := range [][]string{{"CONFIG", "SET", "primaryauth", "wrong"}, {"CLIENT", "KILL", "TYPE", "primary"}} {
			if _, err := c.Pod(0, 1).Server.Do(words...); err != nil && !strings.Contains(err.Error(), "No such client") {
				t.Fatal(err)
			}
		}
		o := with("hunter2")
		o.DryRun = true
		eventually(t, "the replica is cut off", func() bool {
			return strings.Contains(converge.Run(t.Context(), o).Next, "pod c-0-1 follows c-0-0 and is not in sync")
		})
	})
}

// TestProcessADiskThatCannotBeWritten shows by pod, and nobody with such a disk takes over.
func TestProcessADiskThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	perVersion(t, func(t *testing.T, version string) {
		c := replicated(t, version, 10)
		p := c.Pod(0, 1)
		if err := os.RemoveAll(p.Server.Dir); err != nil {
			t.Fatal(err)
		}
		// It says so at once, or once the child that saves has failed.
		_, _ = p.Server.Do("BGSAVE")
		eventually(t, "the server cannot save", func() bool { return p.Info()["rdb_last_bgsave_status"] == "err" })
		if out := stays(t, c, converge.Repair, 3*time.Second); !strings.Contains(out.Message, "pod c-0-1 cannot write its data directory (rdb_last_bgsave_status:err)") {
			t.Errorf("%+v", out)
		}
		c.Pod(0, 0).Stop()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		o := c.Options(converge.Failover, clustertest.Dialer())
		o.OnStep = func(s plan.Step, _ error) {
			if s.Kind() == "attach" {
				cancel()
			}
		}
		converge.Run(ctx, o)
		leads(t, c, 2)
	})
}

// TestProcessAPodThatIsBackUnderItsName: the Job was started while a pod was gone, and was told
// no address of it. Meanwhile it is back with its data, as the primary that it was. Nobody is
// elected beside it: it is found by its name, and the others follow it.
func TestProcessAPodThatIsBackUnderItsName(t *testing.T) {
	t.Parallel()
	perVersion(t, func(t *testing.T, version string) {
		c := replicated(t, version, 100)
		p := c.Pod(0, 0)
		if _, err := p.Server.Do("SAVE"); err != nil {
			t.Fatal(err)
		}
		p.Unfenced = true
		p.Restart()
		o := c.Options(converge.Failover, clustertest.Dialer())
		o.Pods[0].Host, o.Pods[0].ServerName, o.Pods[0].Runs = "", "c-0-0.c-nodes", survey.Stopped
		o.Find = func(context.Context, string) (string, error) { return p.Place.Host, nil }
		if out := converge.Run(t.Context(), o); out.Result != converge.Converged || out.Raced != 1 || out.Steps["elect"] > 0 || out.Answered != 3 {
			t.Errorf("%+v", out)
		}
		leads(t, c, 0)
		if n := c.Missing(100); n > 0 {
			t.Errorf("%d keys missing", n)
		}
	})
}
