// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package settle

import (
	"context"
	"testing"

	"github.com/valkey-render/valkey-render/internal/servertest"
	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/outcome"
	"github.com/valkey-render/valkey-render/topologyjob/setting"
)

// live reads a live file of a version.
func liveFile(t *testing.T, version, text string) map[string]map[string]string {
	t.Helper()
	values, err := setting.ParseLive(version, text+"\n# valkey-render: end of "+version+".conf\n")
	if err != nil {
		t.Fatal(err)
	}
	return map[string]map[string]string{version: values}
}

func configOf(t *testing.T, s *servertest.Server, name string) string {
	t.Helper()
	values, err := s.Config(name)
	if err != nil {
		t.Fatal(err)
	}
	return values[name]
}

// TestProcessAFreshServerHasNothingToSet: the defaults of the table are the server's.
func TestProcessAFreshServerHasNothingToSet(t *testing.T) {
	t.Parallel()
	everyVersion(t, func(t *testing.T, version string) {
		r := start(t, version, 1, false, servertest.Options{})
		want(t, Live(within(t), r.options(t, r.dialer), liveFile(t, version, "")), outcome.Converged, "", "nothing to do")
	})
}

const manyForms = `maxmemory 100mb
maxmemory-policy allkeys-lru
save 3600 1
save 60 100
client-output-buffer-limit replica 512mb 128mb 60
notify-keyspace-events KEA
appendfsync ALWAYS
repl-backlog-size 3m
maxmemory-clients 10%
latency-tracking-info-percentiles 50 99.90
slowlog-log-slower-than 77
list-max-listpack-size -1
min-slaves-max-lag 7
`

// TestProcessLiveConfig sets values in every form, finds nothing to do a second time, and
// gives back the defaults of what the file has no more.
func TestProcessLiveConfig(t *testing.T) {
	t.Parallel()
	everyVersion(t, func(t *testing.T, version string) {
		r := start(t, version, 3, true, servertest.Options{})
		dry := r.options(t, r.dialer)
		dry.DryRun = true
		want(t, Live(within(t), dry, liveFile(t, version, manyForms)), outcome.Converged, "", "would: CONFIG SET appendfsync, ", " on c-0-0; ", " on c-0-2")
		if got := configOf(t, r.servers[0], "maxmemory"); got != "0" {
			t.Fatalf("a dry run set maxmemory to %s", got)
		}
		report := Live(within(t), r.options(t, r.dialer), liveFile(t, version, manyForms))
		want(t, report, outcome.Converged, "", "3 of 3 pods changed")
		want(t, Live(within(t), r.options(t, r.dialer), liveFile(t, version, manyForms)), outcome.Converged, "", "nothing to do")
		for _, s := range r.servers {
			for name, value := range map[string]string{
				"maxmemory": "104857600", "save": "3600 1 60 100", "slowlog-log-slower-than": "77",
				"client-output-buffer-limit": "normal 0 0 0 slave 536870912 134217728 60 pubsub 33554432 8388608 60",
			} {
				if got := configOf(t, s, name); got != value {
					t.Errorf("%s is %q, not %q", name, got, value)
				}
			}
		}
		want(t, Live(within(t), r.options(t, r.dialer), liveFile(t, version, "maxmemory 100mb")), outcome.Converged, "", "3 of 3")
		for _, s := range r.servers {
			for name, value := range map[string]string{"maxmemory-policy": "noeviction", "save": "3600 1 60 100", "appendfsync": "everysec", "maxmemory": "104857600"} {
				if got := configOf(t, s, name); got != value {
					t.Errorf("%s is %q, not %q", name, got, value)
				}
			}
		}
	})
}

// TestProcessARejectedValueStaysOnNoServer: what one server refuses no other is asked,
// and that one, a replica, keeps all its values (T9).
func TestProcessARejectedValueStaysOnNoServer(t *testing.T) {
	t.Parallel()
	everyVersion(t, func(t *testing.T, version string) {
		r := start(t, version, 3, true, servertest.Options{})
		// A build may refuse what the table has.
		files := map[string]map[string]string{version: {"maxmemory": "104857600", "maxclients": "many"}}
		report := Live(within(t), r.options(t, r.dialer), files)
		want(t, report, outcome.Blocked, LiveConfigRejected, "CONFIG SET", "maxclients")
		if report.Counts["changed"] != 0 {
			t.Errorf("%d pods changed", report.Counts["changed"])
		}
		for i, s := range r.servers {
			if got := configOf(t, s, "maxmemory"); got != "0" {
				t.Errorf("server %d: maxmemory is %s", i, got)
			}
			stats, err := s.Do("INFO", "commandstats")
			if err != nil {
				t.Fatal(err)
			}
			asked := node.ParseInfo(stats.(string))["cmdstat_config|set"] != ""
			if asked != (i == 1) {
				t.Errorf("server %d was asked: %t", i, asked)
			}
		}
	})
}

func TestProcessLiveConfigWaitsForAPodThatIsDown(t *testing.T) {
	t.Parallel()
	r := start(t, "9.1", 2, false, servertest.Options{})
	down := r.servers[1]
	down.Stop()
	files := liveFile(t, "9.1", "maxmemory 100mb")
	once := r.options(t, r.dialer)
	once.Wait = false
	want(t, Live(within(t), once, files), outcome.Blocked, PodsUnreachable, "c-0-1: ")
	if got := configOf(t, r.servers[0], "maxmemory"); got != "104857600" {
		t.Errorf("the pod that is there has maxmemory %s", got)
	}
	short, cancel := context.WithTimeout(t.Context(), 1)
	defer cancel()
	want(t, Live(short, r.options(t, r.dialer), files), outcome.Deadline, PodsUnreachable)
	// It reads its file when it starts.
	r.pods[1].Stopped = true
	report := Live(within(t), r.options(t, r.dialer), files)
	want(t, report, outcome.Converged, "", "nothing to do")
	if report.Counts["stopped"] != 1 {
		t.Errorf("counts %v", report.Counts)
	}
	// It comes back while a run waits.
	r.pods[1].Stopped = false
	waiting := make(chan Report, 1)
	o := r.options(t, r.dialer)
	o.Resolve = func(context.Context, string) (string, error) { return "127.0.0.1", nil }
	noticed := make(chan bool, 1)
	o.OnStep = func(string) {
		select {
		case noticed <- true:
		default:
		}
	}
	go func() { waiting <- Live(within(t), o, files) }()
	<-noticed
	back := servertest.Start(t, "9.1", servertest.Options{Args: []string{"--port", r.servers[1].Addr()[len("127.0.0.1:"):]}})
	want(t, <-waiting, outcome.Converged, "", "1 of 2 pods changed")
	if got := configOf(t, back, "maxmemory"); got != "104857600" {
		t.Errorf("the pod that came back has maxmemory %s", got)
	}
}

func TestProcessLiveConfigNeedsAFileForEachVersion(t *testing.T) {
	t.Parallel()
	r := start(t, "9.1", 1, false, servertest.Options{})
	want(t, Live(within(t), r.options(t, r.dialer), liveFile(t, "8.0", "")), outcome.Blocked, VersionUnknown, "runs Valkey 9.1")
}

// TestProcessEachVersionGetsItsOwnFile, as in the middle of an upgrade.
func TestProcessEachVersionGetsItsOwnFile(t *testing.T) {
	t.Parallel()
	r := start(t, "8.0", 1, false, servertest.Options{})
	r.add(servertest.Start(t, "9.1", servertest.Options{TCP: true}), false)
	files := liveFile(t, "8.0", "maxmemory 80mb")
	files["9.1"] = liveFile(t, "9.1", "maxmemory 91mb\ncluster-slot-migration-log-max-len 5")["9.1"]
	want(t, Live(within(t), r.options(t, r.dialer), files), outcome.Converged, "", "2 of 2")
	if a, b := configOf(t, r.servers[0], "maxmemory"), configOf(t, r.servers[1], "maxmemory"); a != "83886080" || b != "95420416" {
		t.Errorf("maxmemory is %s and %s", a, b)
	}
}

func TestProcessLiveConfigStoppedAnywhere(t *testing.T) {
	t.Parallel()
	everyVersion(t, func(t *testing.T, version string) {
		r := start(t, version, 3, false, servertest.Options{})
		commands := crashes(t, 1, r.dialer, func() {
			for _, s := range r.servers {
				if _, err := s.Do("CONFIG", "SET", "maxmemory", "0", "hz", "50"); err != nil {
					t.Fatal(err)
				}
			}
		}, func(ctx context.Context, dialer node.Dialer) Report {
			return Live(ctx, r.options(t, dialer), liveFile(t, version, "maxmemory 100mb"))
		}, func() {
			for _, s := range r.servers {
				if got := configOf(t, s, "maxmemory") + " " + configOf(t, s, "hz"); got != "104857600 10" {
					t.Errorf("maxmemory and hz are %s", got)
				}
			}
		})
		if commands != 3 {
			t.Errorf("%d commands, want one for each server", commands)
		}
	})
}
