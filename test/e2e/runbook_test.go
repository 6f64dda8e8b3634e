// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

//go:build cluster

package e2e

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
)

// elsewhere are the procedures of docs/runbook.md that TestClusterRunbook does not run, with
// the tests of what they stand on.
func elsewhere() map[string][]string {
	return map[string][]string{
		"Rotate a password of your own": {"TestAReplacedPasswordOverlaps", "TestAReplacedPasswordIsFollowed", "TestProcessUsers"},
		"Renew a certificate":           {"TestProcessARenewedCertificateIsServed", "TestProcessServersThatReloadByThemselves"},
		"More or fewer shards":          {"TestClusterReconcilerFormsRollsAndScales"},
		"A primary hangs":               {"TestProcessReplicationFailover", "TestProcessFrozenServersFailTheirProbes"},
		"All pods are gone":             {"TestProcessAllPodsMove"},
		"Most primaries are lost":       {"TestProcessMajorityLost"},
		"Upgrade the reconciler":        {"TestAPIServerReleaseFromInstallationToEnd", "TestDelivery"},
		"Hundreds of clusters":          {"TestTheLeaseSaysWhomTheReconcilerLooksAfter"},
	}
}

// TestClusterRunbook does what docs/runbook.md says, on one cluster from its creation to its
// deletion, and sees what the page says one sees.
func TestClusterRunbook(t *testing.T) {
	p := newPlace(t)
	if os.Getenv("LOCALCLUSTER") != "" {
		p.load(v1alpha1.DefaultExporterImage, p.sidecar())
	}
	p.reconciles()
	r := p.runbook()
	r.shows(r.does("Create a cluster", 0), 3, 1)
	r.writes()
	for _, procedure := range []struct {
		name string
		run  func()
	}{
		{"look", r.look},
		{"live directive", r.live},
		{"rotation", r.rotation},
		{"failover", r.failover},
		{"crash", r.crash},
		{"restarts", r.restarts},
		{"replicas", r.replicas},
		{"reshard", r.reshard},
		{"recover", r.recovers},
		{"hibernation", r.hibernation},
		{"deletion without data", r.deletion},
		{"storage", r.storage},
		{"deletion with data", r.destruction},
	} {
		begun := time.Now()
		procedure.run()
		t.Logf("%s: %s", procedure.name, time.Since(begun).Round(time.Second))
	}
	left := elsewhere()
	for heading := range r.blocks {
		if r.done[heading] == (left[heading] != nil) {
			t.Errorf("%q is run: %t; by other tests: %v", heading, r.done[heading], left[heading])
		}
	}
}

// keys is how many keys are written, over all shards.
const keys = 60

// inside runs a script in a pod, where valkey-cli logs in with a password.
func (r *runbook) inside(pod, password, script string) string {
	r.Helper()
	out, err := r.exec(pod, password+"\n", "sh", "-c", `read -r VALKEYCLI_AUTH; export VALKEYCLI_AUTH; `+script)
	if err != nil {
		r.Fatalf("pod %s: %s: %v: %s", pod, script, err, out)
	}
	return out
}

// writes writes all keys.
func (r *runbook) writes() {
	r.Helper()
	out := r.inside("cache-0-0", r.password("cache-auth", "password"), fmt.Sprintf(`seq %d | sed 's/.*/SET key:& value:&/' | valkey-cli -c | grep -c OK`, keys))
	if out != fmt.Sprint(keys) {
		r.Fatalf("%s of %d keys were written", out, keys)
	}
}

// reads waits until every key is read; a pod knows of a new primary some moments later.
func (r *runbook) reads() {
	r.Helper()
	script := fmt.Sprintf(`seq %d | sed 's/.*/GET key:&/' | valkey-cli -c | grep -cx 'value:[0-9]*' || true`, keys)
	password := r.password("cache-auth", "password")
	r.until(patience, func() error {
		out, err := r.exec("cache-0-0", password+"\n", "sh", "-c", `read -r VALKEYCLI_AUTH; export VALKEYCLI_AUTH; `+script)
		if err == nil && out != fmt.Sprint(keys) {
			err = fmt.Errorf("%s of %d keys are read", out, keys)
		}
		return err
	})
}

// takes is nil when a server takes a password, or refuses it where that is wanted.
func (r *runbook) takes(pod, password string, want bool) error {
	out, err := r.exec(pod, password+"\n", "sh", "-c", `read -r VALKEYCLI_AUTH; export VALKEYCLI_AUTH; exec timeout 10 valkey-cli PING`)
	if took := err == nil && out == "PONG"; took != want {
		return errors.Join(fmt.Errorf("pod %s takes the password: %t, want %t: %s", pod, took, want, out), err)
	}
	return nil
}

// servers are the UIDs of the data pods by their names.
func (r *runbook) servers() map[string]types.UID {
	r.Helper()
	uids := map[string]types.UID{}
	for _, pod := range r.pods(name.LabelComponent, name.ComponentServer) {
		uids[pod.Name] = pod.UID
	}
	return uids
}

// same checks that no data pod was replaced and no container restarted.
func (r *runbook) same(before map[string]types.UID) {
	r.Helper()
	for _, pod := range r.pods(name.LabelComponent, name.ComponentServer) {
		if uid, was := before[pod.Name]; was && (uid != pod.UID || restarts(&pod) > 0) {
			r.Errorf("pod %s is another one, or was restarted", pod.Name)
		}
	}
}

// shows checks that so many lines of a topology are of shards that are well.
func (r *runbook) shows(topology string, shards, replicas int) {
	r.Helper()
	lines := strings.Split(strings.TrimSpace(topology), "\n")
	lines = slices.DeleteFunc(lines, func(line string) bool { return !strings.HasPrefix(line, "shard ") })
	if len(lines) != shards {
		r.Errorf("%d shards, want %d:\n%s", len(lines), shards, topology)
	}
	for i, line := range lines {
		if !strings.HasPrefix(line, fmt.Sprintf("shard %d Ready: primary cache-%d-", i, i)) || strings.Count(line, "cache-") != 1+replicas {
			r.Errorf("shard %d: %s", i, line)
		}
	}
}

// shard is one of the status.
func (r *runbook) shard(index int) v1alpha1.ShardStatus {
	r.Helper()
	details := r.cluster().Status.ShardDetails
	if index >= len(details) {
		r.Fatalf("%d shards in the status", len(details))
	}
	return details[index]
}
