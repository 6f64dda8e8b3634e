// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

//go:build cluster

package e2e

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
)

// subject is a cluster of the soak, in a namespace with a reconciler of its own.
type subject struct {
	*place
	name   string
	valkey client.Client
	writer *writing
	// to are the writer's flags.
	to []string

	// What is asked for: shards, 0 with topology Replication, and a directive that rolls.
	shards, backlog int
	// token is that of the last rotation.
	token string

	mu sync.Mutex
	// seen are the data pods as they were when the API server last told.
	seen []corev1.Pod
}

func newSharded(t *testing.T) *subject {
	p := newPlace(t)
	return &subject{place: p, name: "Cluster", valkey: p.nodesAPI(), to: p.toCluster(), shards: 3, backlog: 600}
}

func newReplicated(t *testing.T) *subject {
	p := newPlace(t)
	return &subject{place: p, name: "Replication", valkey: p.nodesAPI(), to: p.toPrimary(), backlog: 600}
}

// text is the spec that is asked for.
func (s *subject) text() string {
	size := fmt.Sprintf("shards: %d, replicasPerShard: 1", s.shards)
	if s.shards == 0 {
		size = "topology: Replication, replicas: 3"
	}
	return fmt.Sprintf(`{%s, profile: Durable, delivery: GitOps, config: {tcp-backlog: "%d"}, storage: {size: 1Gi},
  resources: {requests: {cpu: 10m, memory: 64Mi}, limits: {memory: 256Mi}}}`, size, s.backlog)
}

// begins makes the cluster and starts to write.
func (s *subject) begins() {
	s.Helper()
	s.mayReconcile()
	s.stays()
	if err := s.applies(s.Context()); err != nil {
		s.Fatal(err)
	}
	s.recovers(0)
	s.writer = s.writes(append(s.to, "-rate", "200", "-connections", "24")...)
}

// applies applies what is asked for until it is accepted: the API server may be away.
func (s *subject) applies(ctx context.Context) error {
	spec := s.spec(s.text())
	for {
		o := s.program(append([]string{"apply"}, spec...)...)
		if o.code == 0 {
			return nil
		}
		if err := pause(ctx, time.Second); err != nil {
			return fmt.Errorf("apply: %w: exit status %d: %s%s", err, o.code, o.out, o.errOut)
		}
	}
}

// status reads the ValkeyCluster.
func (s *subject) status(ctx context.Context) (*v1alpha1.ValkeyCluster, error) {
	c := &v1alpha1.ValkeyCluster{}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return c, s.valkey.Get(ctx, types.NamespacedName{Namespace: s.namespace, Name: "cache"}, c)
}

// dataPods are the pods with servers; as they were last when nobody tells now.
func (s *subject) dataPods(ctx context.Context) []corev1.Pod {
	var list corev1.PodList
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	err := s.api.List(ctx, &list, client.InNamespace(s.namespace), client.MatchingLabels{name.LabelComponent: name.ComponentServer})
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		s.seen = list.Items
	}
	return s.seen
}

// recovers waits until the cluster is as it was asked for.
func (s *subject) recovers(round int) {
	s.Helper()
	var last error
	for end := time.Now().Add(recovery); time.Now().Before(end); time.Sleep(300 * time.Millisecond) {
		if last = s.settled(s.Context()); last == nil {
			return
		}
	}
	s.Fatalf("round %d: %s: not Ready after %s: %v\n%s", round, s.name, recovery, last, s.evidence())
}

// settled is nil when the cluster is Ready, has the pods and slots that were asked for, and
// every pod is of the newest revision.
func (s *subject) settled(ctx context.Context) error {
	c, err := s.status(ctx)
	if err != nil {
		return err
	}
	return readyAnd(c, func(c *v1alpha1.ValkeyCluster) error {
		want := 3
		if s.shards > 0 {
			want = 2 * s.shards
			if err := slotsOf(c, s.shards, name.SlotCount/int32(s.shards)); err != nil {
				return err
			}
		}
		pods := s.dataPods(ctx)
		if len(pods) != want {
			return fmt.Errorf("%d pods, want %d", len(pods), want)
		}
		var errs []error
		for _, pod := range pods {
			errs = append(errs, s.newest(ctx, &pod))
		}
		return errors.Join(errs...)
	})
}

// newest is nil when a pod is ready and of its StatefulSet's newest revision.
func (s *subject) newest(ctx context.Context, pod *corev1.Pod) error {
	set := &appsv1.StatefulSet{}
	shard := pod.Name[:strings.LastIndexByte(pod.Name, '-')]
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if err := s.api.Get(ctx, types.NamespacedName{Namespace: s.namespace, Name: shard}, set); err != nil {
		return err
	}
	switch {
	case pod.DeletionTimestamp != nil:
		return fmt.Errorf("pod %s goes", pod.Name)
	case !ready(pod):
		return fmt.Errorf("pod %s is not ready", pod.Name)
	case pod.Labels["controller-revision-hash"] != set.Status.UpdateRevision:
		return fmt.Errorf("pod %s is not of revision %s", pod.Name, set.Status.UpdateRevision)
	}
	return nil
}

// evidence is what the reconciler thinks and has said.
func (s *subject) evidence() string {
	var b strings.Builder
	for _, args := range [][]string{
		{"get", "valkeycluster", "cache", "-o", "yaml", "--show-managed-fields=false"},
		{"get", "nodes,pods,jobs", "-o", "wide"},
		{"logs", "deployment/" + reconcilerPod, "--tail=150"},
		{"logs", "--all-containers", "--prefix", "--tail=60", "-l", name.LabelComponent + "=" + name.ComponentJob},
		{"logs", "--all-containers", "--prefix", "--tail=60", "-l", name.LabelComponent + "=" + name.ComponentServer},
	} {
		fmt.Fprintf(&b, "kubectl %s\n%s\n", strings.Join(args, " "), s.kubectl(args...))
	}
	return b.String()
}
