// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package localpod_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/valkey-render/valkey-render/internal/localpod"
	"github.com/valkey-render/valkey-render/internal/servertest"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/render/script"
)

const replication = `
apiVersion: valkey-render.dev/v1alpha1
kind: ValkeyCluster
metadata: {name: trio}
spec:
  topology: Replication
  replicas: 3
`

// formReplication makes the first pod the primary.
func (r *rig) formReplication() {
	r.t.Helper()
	c := r.cluster.Name
	// Nobody is ready before: all start as replicas of nobody.
	for i := range 3 {
		pod := name.Pod(c, 0, int32(i))
		r.eventually("master_link_status:down", func() string { return r.do(pod, "INFO", "replication") })
	}
	if got := r.do(name.Pod(c, 0, 0), "REPLICAOF", "NO", "ONE"); got != "OK" {
		r.t.Fatal(got)
	}
	for i := range 2 {
		pod := name.Pod(c, 0, int32(i+1))
		if got := r.do(pod, "REPLICAOF", r.Pod(name.Pod(c, 0, 0)).Address().String(), fmt.Sprint(r.cluster.Port())); got != "OK" {
			r.t.Fatal(got)
		}
	}
	r.await()
}

// TestProcessReplicationHandsOver: a pod that is deleted runs its preStop hook first,
// and when it comes back it finds the new primary.
func TestProcessReplicationHandsOver(t *testing.T) {
	t.Parallel()
	for _, version := range servertest.Sample(t) {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, version, spec(t, replication))
			r.formReplication()
			if got := r.client("trio-0-0", "SET", "k", "v"); got != "OK" {
				t.Fatal(got)
			}
			first := r.Pod("trio-0-0")
			must(t, first.Delete(r.context()))
			if log, err := os.ReadFile(first.Log()); err != nil || !strings.Contains(string(log), "User requested shutdown") && !strings.Contains(string(log), "SIGTERM") {
				t.Errorf("no orderly end in the log: %v\n%s", err, log)
			}
			primary := "trio-0-1"
			if strings.HasPrefix(r.client(primary, "ROLE"), "[slave") {
				primary = "trio-0-2"
			}
			if got := r.client(primary, "SET", "l", "w"); got != "OK" {
				t.Fatalf("%s is no primary: %s", primary, got)
			}
			must(t, first.Start())
			r.await()
			if got := r.client("trio-0-0", "ROLE"); !strings.Contains(got, r.Pod(primary).Address().String()) {
				t.Errorf("the pod that came back is not a replica of %s: %s", primary, got)
			}
			for _, key := range []string{"k", "l"} {
				if got := r.client(primary, "EXISTS", key); got != "1" {
					t.Errorf("EXISTS %s: %s", key, got)
				}
			}
			// The replica is linked a moment before its primary has reaped the child that
			// sent it the data, and says online.
			r.eventually("ip="+first.Address().String()+",port=6379,state=online", func() string {
				return r.do(primary, "INFO", "replication")
			})
		})
	}
}

// TestProcessKeptContainersStartAgain: with Keep, what is killed comes back, as the
// same server.
func TestProcessKeptContainersStartAgain(t *testing.T) {
	t.Parallel()
	c := spec(t, standalone)
	r := newRig(t, "9.1", c)
	r.await()
	must(t, r.Close())
	r.opts.Keep = true
	r.open()
	r.apply()
	must(t, r.Start())
	r.await()
	if got := r.client("one-0-0", "SET", "k", "v"); got != "OK" {
		t.Fatal(got)
	}
	p := r.Pod("one-0-0")
	p.Kill()
	r.eventually("1", func() string { return fmt.Sprint(p.Restarts()) })
	r.await()
	if got := r.client("one-0-0", "EXISTS", "k"); got != "1" {
		t.Errorf("EXISTS k: %s", got)
	}
	must(t, p.Stop(r.context()))
	if p.Running() {
		t.Error("runs though it was stopped")
	}
	if found := processes(t, r.dir); len(found) > 0 {
		t.Errorf("processes that are left: %s", strings.Join(found, "\n"))
	}
}

// TestProcessFrozenServersFailTheirProbes: SIGSTOP is a server that hangs.
func TestProcessFrozenServersFailTheirProbes(t *testing.T) {
	t.Parallel()
	r := newRig(t, "9.1", spec(t, standalone))
	r.await()
	p := r.Pod("one-0-0")
	must(t, p.Signal(syscall.SIGSTOP))
	if err := p.Probe(r.context(), script.ProbeLiveness); err == nil || !strings.Contains(err.Error(), "no answer") {
		t.Errorf("liveness of a frozen server: %v", err)
	}
	must(t, p.Signal(syscall.SIGCONT))
	must(t, p.Probe(r.context(), script.ProbeLiveness))
}

// TestProcessChangedObjectsReachTheirPods: files of ConfigMaps change under a pod that
// runs, the pod template only with the next pod.
func TestProcessChangedObjectsReachTheirPods(t *testing.T) {
	t.Parallel()
	c := spec(t, standalone)
	r := newRig(t, "9.1", c)
	r.await()
	p := r.Pod("one-0-0")
	live := filepath.Join(r.dir, "one-0-0", "valkey", "live", "9.1.conf")
	r.cluster.Spec.Config = map[string]string{"timeout": "77"}
	r.apply()
	if text, err := os.ReadFile(live); err != nil || !strings.Contains(string(text), "timeout 77") {
		t.Errorf("%v: %s", err, text)
	}
	if p.Outdated() {
		t.Error("a live directive makes the pod outdated")
	}
	r.cluster.Spec.Config["tcp-backlog"] = "600"
	r.apply()
	if !p.Outdated() {
		t.Error("a directive of the template does not make the pod outdated")
	}
	must(t, p.Restart(r.context()))
	r.await()
	if got := r.client("one-0-0", "CONFIG", "GET", "tcp-backlog"); strings.Contains(got, "600") {
		t.Errorf("a container that restarts has another template: %s", got)
	}
	if got := r.client("one-0-0", "CONFIG", "GET", "timeout"); !strings.Contains(got, "77") {
		t.Errorf("a container that restarts has not the live file: %s", got)
	}
	must(t, p.Delete(r.context()))
	must(t, p.Start())
	r.await()
	if got := r.client("one-0-0", "CONFIG", "GET", "tcp-backlog"); !strings.Contains(got, "600") || p.Outdated() {
		t.Errorf("a new pod has the old template: %s", got)
	}
}

// TestProcessEndsAreReported: a container that cannot start says why.
func TestProcessEndsAreReported(t *testing.T) {
	t.Parallel()
	r := newRig(t, "9.1", spec(t, standalone))
	r.await()
	p := r.Pod("one-0-0")
	must(t, p.Delete(r.context()))
	must(t, os.WriteFile(filepath.Join(r.dir, "claims", "data-one-0-0", "appendonlydir", "appendonly.aof.manifest"), []byte("nonsense\n"), 0o600))
	must(t, p.Start())
	err := r.Await(r.context())
	if err == nil || !strings.Contains(err.Error(), localpod.ErrEnded.Error()) || !strings.Contains(err.Error(), "anifest") {
		t.Errorf("the end of a container: %v", err)
	}
}
