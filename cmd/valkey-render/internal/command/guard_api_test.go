// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/valkey-render/valkey-render/internal/apitest"
	"github.com/valkey-render/valkey-render/topologyjob/guard"
)

// underGuard loads the guard until the test is over, and waits until it denies
// deleting a shard.
func underGuard(t *testing.T, namespace, set string) {
	t.Helper()
	c := apitest.Client(t)
	for _, p := range guard.Policies(guard.Options{}) {
		for _, o := range []client.Object{p.Policy, p.Binding} {
			if err := c.Create(t.Context(), o); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = c.Delete(context.Background(), o) })
		}
	}
	for end := time.Now().Add(3 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		shard := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: set}}
		err := c.Delete(t.Context(), shard, client.DryRunAll)
		if err != nil && strings.Contains(err.Error(), guard.Prefix+"shard") {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("the guard does not deny: %v", err)
		}
	}
}

func (s *session) label(namespace, set, patch string) {
	s.t.Helper()
	shard := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: set}}
	if err := apitest.Client(s.t).Patch(s.t.Context(), shard, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":`+patch+`}}`))); err != nil {
		s.t.Fatal(err)
	}
}

const twoShards = `apiVersion: valkey-render.dev/v1alpha1
kind: ValkeyCluster
metadata: {name: cache, namespace: shop}
spec: {shards: 2, replicasPerShard: 1, resources: {limits: {memory: 1Gi}}, storage: {size: 1Gi}}
`

// TestAPIServerDeleteUnderTheGuard: what the guard denies in the middle of a delete or
// a prune is a refusal with its words, and the same command ends it later.
func TestAPIServerDeleteUnderTheGuard(t *testing.T) {
	allowed := strings.Replace(twoShards, "spec: {", "spec: {deletionPolicy: Allow, ", 1)
	s, namespace := onServer(t, map[string]string{
		"two.yaml": twoShards, "guarded.yaml": strings.Replace(twoShards, "spec: {", "spec: {deletionPolicy: Guard, ", 1),
		"allowed.yaml": allowed, "one.yaml": strings.Replace(allowed, "shards: 2", "shards: 1", 1),
	})
	s.must(exitOK, "apply", "-f", "guarded.yaml")
	underGuard(t, namespace, "cache-1")
	if again := s.must(exitOK, "apply", "-f", "guarded.yaml"); again.out != "" {
		t.Errorf("second apply: %s", again.out)
	}
	if got := s.must(exitDifferences, "delete", "cache", "-n", namespace); !strings.Contains(got.err, "set spec.deletionPolicy to Allow and apply it first") {
		t.Errorf("delete: %s%s", got.out, got.err)
	}
	s.must(exitOK, "apply", "-f", "allowed.yaml")

	lost := fmt.Sprintf("StatefulSet/%[1]s/cache-1: delete failed: denied: statefulsets.apps \"cache-1\" is forbidden: ValidatingAdmissionPolicy '%[2]s' with binding '%[2]s' denied request: "+
		"StatefulSet/%[1]s/cache-1 is a shard by its selector and has lost the label that its guard looks for: put it back, and ask again: kubectl -n %[1]s label statefulset cache-1 valkey-render.dev/shard=1", namespace, guard.Prefix+"label")
	s.label(namespace, "cache-1", `{"valkey-render.dev/shard":null}`)
	denied := s.must(exitDifferences, "apply", "-f", "one.yaml")
	if !strings.Contains(denied.err, lost) {
		t.Errorf("prune: %s%s", denied.out, denied.err)
	}
	s.label(namespace, "cache-1", `{"valkey-render.dev/shard":"1"}`)
	if got := s.must(exitOK, "apply", "-f", "one.yaml"); !strings.Contains(got.out, "StatefulSet/"+namespace+"/cache-1 deleted") {
		t.Errorf("prune: %s%s", got.out, got.err)
	}

	s.must(exitOK, "apply", "-f", "allowed.yaml")
	s.label(namespace, "cache-1", `{"valkey-render.dev/shard":null}`)
	denied = s.must(exitDifferences, "delete", "cache", "-n", namespace, "-o", "json")
	if !strings.Contains(denied.err, lost) || !strings.Contains(denied.out, `"action": "failed"`) {
		t.Errorf("delete: %s%s", denied.out, denied.err)
	}
	s.label(namespace, "cache-1", `{"valkey-render.dev/shard":"1"}`)
	if got := s.must(exitOK, "delete", "cache", "-n", namespace, "--wait"); got.out != "StatefulSet/"+namespace+"/cache-1 deleted\n" {
		t.Errorf("the second delete: %s%s", got.out, got.err)
	}
	if got := s.must(exitDifferences, "delete", "cache", "-n", namespace); !strings.Contains(got.err, "there is none, and no inventory of one") {
		t.Errorf("the third delete: %s%s", got.out, got.err)
	}
}

// TestAPIServerDeleteIsNotStoppedByWhatItHasJustChanged: the guard learns a moment
// late of a ValkeyCluster that was deleted or set to Allow in the same run.
func TestAPIServerDeleteIsNotStoppedByWhatItHasJustChanged(t *testing.T) {
	allowed := strings.Replace(twoShards, "shards: 2", "deletionPolicy: Allow, shards: 1", 1)
	s, namespace := onServer(t, map[string]string{"two.yaml": twoShards, "one.yaml": allowed})
	for round := range 10 {
		s.must(exitOK, "apply", "-f", "two.yaml")
		if round == 0 {
			underGuard(t, namespace, "cache-1")
		}
		if round%2 == 0 {
			s.must(exitOK, "apply", "-f", "one.yaml")
		}
		s.must(exitOK, "delete", "cache", "-n", namespace, "--wait")
	}
}
