// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/valkey-render/valkey-render/internal/localpod"
)

const edited = `
apiVersion: valkey-render.dev/v1alpha1
kind: ValkeyCluster
metadata: {name: cache}
spec:
  shards: SHARDS
  replicasPerShard: REPLICAS
  version: "9.1"
  resources: {limits: {memory: 256Mi}}
  config:
    timeout: "TIMEOUT"
    tcp-backlog: "BACKLOG"
  users: USERS
  # MORE
`

// edit renders the spec for a version, with some values.
func edit(t *testing.T, version string, pairs ...string) Rendering {
	t.Helper()
	all := append(pairs, "SHARDS", "3", "REPLICAS", "1", "TIMEOUT", "300", "BACKLOG", "512", "USERS", "[]")
	return rendered(t, parse(t, strings.NewReplacer(all...).Replace(edited)), version)
}

// TestProcessEditsAreFollowed goes through what a person may change.
func TestProcessEditsAreFollowed(t *testing.T) {
	t.Parallel()
	a := begin(t, "9.1", edit(t, "9.1"))
	follow := func(pairs ...string) {
		t.Helper()
		if err := a.Follow(a.context(), edit(t, "9.1", pairs...)); err != nil {
			t.Fatal(err)
		}
		a.has("kept")
	}
	config := func(directive, want string) {
		t.Helper()
		for _, s := range a.Servers(a.context()) {
			if got := a.do(s.Address, "CONFIG", "GET", directive); !strings.HasSuffix(got, " "+want+"]") {
				t.Errorf("%s of %s: %s, not %s", directive, s.Pod, got, want)
			}
		}
	}
	started := func() string {
		var all []string
		for _, s := range a.Servers(a.context()) {
			for line := range strings.SplitSeq(a.do(s.Address, "INFO", "server"), "\r\n") {
				if strings.HasPrefix(line, "run_id:") {
					all = append(all, line)
				}
			}
		}
		return strings.Join(all, " ")
	}
	a.write("kept")
	before := started()

	follow("TIMEOUT", "60")
	config("timeout", "60")
	follow("TIMEOUT", "60", "USERS", "[{name: app, keys: {readWrite: ['*']}, commands: {allow: [get]}}]")
	if got := a.everywhere("ACL", "USERS"); strings.Count(got, " app ")+strings.Count(got, "[app ") != 3 {
		t.Errorf("users: %s", got)
	}
	if started() != before {
		t.Error("servers were restarted for what applies live")
	}

	follow("TIMEOUT", "60", "BACKLOG", "600")
	config("tcp-backlog", "600")
	config("timeout", "60")
	if got := a.everywhere("ACL", "USERS"); strings.Contains(got, "app") {
		t.Errorf("users after one was taken away: %s", got)
	}

	follow("TIMEOUT", "60", "BACKLOG", "600", "REPLICAS", "2")
	if got := a.roles(); got != "primary 3, replica 6" {
		t.Errorf("with two replicas: %s", got)
	}
	follow("TIMEOUT", "60", "BACKLOG", "600")
	if got := a.roles(); got != "primary 3, replica 3" {
		t.Errorf("with one replica again: %s", got)
	}
	a.refused(edit(t, "9.1", "SHARDS", "2", "# MORE", "jobs: Rendered"), "with jobs: Rendered valkey-render apply does")
	a.refused(edit(t, "9.1", "SHARDS", "2", "# MORE", "suspend: true"), "spec.suspend")
	a.refused(edit(t, "9.1", "TIMEOUT", "60", "cache", "other"), "end this and begin again")
	config("timeout", "60")
}

// TestProcessShardsComeAndGo: slots move to shards that come, and away from those that go
// before their pods do, in one piece or key by key.
func TestProcessShardsComeAndGo(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"8.1", "9.1"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			a := begin(t, version, edit(t, version, "SHARDS", "2"))
			keys := make([]string, 30)
			for i := range keys {
				keys[i] = fmt.Sprint("key", i)
				a.write(keys[i])
			}
			follow := func(want string, pairs ...string) {
				t.Helper()
				if err := a.Follow(a.context(), edit(t, version, pairs...)); err != nil {
					t.Fatal(err)
				}
				a.owned(want)
				for _, key := range keys {
					a.has(key)
				}
			}
			follow("5461 5462 5461", "SHARDS", "3")
			follow("8192 8192", "SHARDS", "2")
			if version == "9.1" {
				follow("8192 8192 0", "SHARDS", "3", "# MORE", "rebalance: {enabled: false}")
			}
		})
	}
}

// TestProcessPrimariesThatGoHandOver: the primary is taken away by an edit only once
// another pod that stays is it.
func TestProcessPrimariesThatGoHandOver(t *testing.T) {
	t.Parallel()
	a := begin(t, "9.1", edit(t, "9.1", "SHARDS", "2"))
	a.write("kept")
	primary := a.Host().Pod("cache-0-1")
	if _, err := a.ask(a.context(), primary, "CLUSTER", "FAILOVER"); err != nil {
		t.Fatal(err)
	}
	err := await(a.context(), func() error {
		if info, err := a.info(a.context(), primary); err != nil || info["role"] != "master" {
			return fmt.Errorf("%w: role %s", err, info["role"])
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	next := edit(t, "9.1", "SHARDS", "2", "REPLICAS", "0")
	other := a.Host().Pod("cache-0-0")
	// Frozen, it cannot take over, and with two of two shards alive nobody is elected.
	if err := other.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	if err := a.Follow(short, next); err == nil {
		t.Error("followed without a replica that takes over")
	}
	if !primary.Running() {
		t.Fatal("the only pod with the data was taken away")
	}
	if err := other.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if err := a.Follow(a.context(), next); err != nil {
		t.Fatal(err)
	}
	if got := a.roles(); got != "primary 2" {
		t.Error(got)
	}
	a.has("kept")
}

// TestProcessReplicationEditsAreFollowed: the primary is replaced last, and hands over.
func TestProcessReplicationEditsAreFollowed(t *testing.T) {
	t.Parallel()
	spec := strings.Replace(durables["Sentinel"].spec, "profile: Durable", "config: {tcp-backlog: \"512\"}", 1)
	spec = strings.Replace(spec, "  storage: {size: 1Gi}\n", "", 1)
	a := begin(t, "8.1", rendered(t, parse(t, spec), "8.1"))
	a.write("kept")
	if err := a.Follow(a.context(), rendered(t, parse(t, strings.Replace(spec, `"512"`, `"600"`, 1)), "8.1")); err != nil {
		t.Fatal(err)
	}
	a.has("kept")
	if got := a.everywhere("CONFIG", "GET", "tcp-backlog"); !strings.Contains(got, "600") {
		t.Error(got)
	}
	if got := a.roles(); got != "primary 1, replica 1, sentinel 3" {
		t.Error(got)
	}
	// A sentinel replaces what is killed, and what was killed comes back.
	primary := a.Connection(a.context()).Primary
	for _, p := range a.Host().Pods() {
		if a.address(p).String() == primary {
			p.Evaporate()
		}
	}
	err := await(a.context(), func() error {
		if now := a.Connection(a.context()).Primary; now == "" || now == primary {
			return fmt.Errorf("the primary is %s", now)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	a.has("kept")
}

func TestModulesNeedTheirFiles(t *testing.T) {
	text, err := os.ReadFile("../../examples/modules/cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, err = Start(t.Context(), Options{Dir: shortDir(t), Programs: programs(t)}, rendered(t, parse(t, string(text)), "9.1"))
	missing, ok := errors.AsType[*localpod.ModuleError](err)
	if !ok || fmt.Sprint(missing.Modules) != "[search json]" {
		t.Errorf("%v", err)
	}
}
