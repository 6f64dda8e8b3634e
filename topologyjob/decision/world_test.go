// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/job"
	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/outcome"
	"github.com/valkey-render/valkey-render/topologyjob/plan"
	"github.com/valkey-render/valkey-render/topologyjob/slot"
	"github.com/valkey-render/valkey-render/topologyjob/status"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// start is the moment of all tests.
var start = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// world is a cluster as it is; tests change parts of it.
type world struct {
	Input
}

// nodeID is the node ID of a pod's first life.
func nodeID(shard, index int32) string {
	return fmt.Sprintf("%02x%02x%s", shard, index, strings.Repeat("0", 36))
}

// blank is a rendered cluster whose servers know nobody.
func blank(shards, replicas int32) *world {
	c := &v1alpha1.ValkeyCluster{ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: "c", UID: "c-uid", Generation: 1, CreationTimestamp: metav1.NewTime(start.Add(-time.Minute)),
	}}
	c.Spec.Shards, c.Spec.ReplicasPerShard, c.Spec.Delivery = new(shards), new(replicas), v1alpha1.DeliveryGitOps
	c.Default()
	w := &world{Input{Now: start, Cluster: c, Seen: &status.Observed{View: &survey.View{}}, Resync: 30 * time.Second}}
	for shard := range shards {
		w.shard(shard, replicas)
	}
	return w
}

// shard adds a StatefulSet with its pods, whose servers know nobody.
func (w *world) shard(shard, replicas int32) {
	w.Seen.StatefulSets = append(w.Seen.StatefulSets, status.StatefulSet{
		Name: name.StatefulSet("c", shard), Shard: shard, Replicas: replicas + 1, Pods: replicas + 1, Observed: true, UpdateRevision: "new",
	})
	for index := range replicas + 1 {
		pod := status.Pod{
			Name: name.Pod("c", shard, index), UID: types.UID(fmt.Sprintf("uid-%d-%d", shard, index)), IP: fmt.Sprintf("10.0.%d.%d", shard, index+1),
			Shard: shard, Index: index, Phase: corev1.PodRunning, Ready: true, Revision: "new", Created: start.Add(-time.Hour),
		}
		w.Seen.Pods = append(w.Seen.Pods, pod)
		asked := survey.Pod{Name: pod.Name, Shard: shard, Index: index, Host: pod.IP, Port: 6379, UID: string(pod.UID), Runs: survey.Running}
		w.Asked = append(w.Asked, asked)
		id := nodeID(shard, index)
		w.Seen.View.Answers = append(w.Seen.View.Answers, survey.Answer{
			Pod: asked, ID: id, Version: "9.1.2", StateOK: true, Nodes: []node.Entry{{ID: id, Myself: true, Linked: true}},
		})
	}
}

// formed is a cluster in which all is well.
func formed(shards, replicas int32) *world {
	w := blank(shards, replicas)
	w.Cluster.Status.ClusterInitialized = true
	for i := range w.Seen.View.Answers {
		a := &w.Seen.View.Answers[i]
		a.Keys, a.Offset, a.Nodes[0].Epoch = 10, 1000, uint64(a.Pod.Shard)+1
		if a.Pod.Index == 0 {
			a.Nodes[0].Slots = slot.Bootstrap(a.Pod.Shard, shards)
			continue
		}
		a.LinkUp = true
		a.Nodes[0].Replica, a.Nodes[0].Primary = true, nodeID(a.Pod.Shard, 0)
	}
	w.gossip()
	return w
}

// gossip makes everybody know everybody as they say of themselves.
func (w *world) gossip() {
	answers := w.Seen.View.Answers
	for i := range answers {
		answers[i].Nodes = []node.Entry{answers[i].Own()}
		for j := range answers {
			if i != j && answers[j].Answered() {
				e := answers[j].Own()
				e.Myself = false
				answers[i].Nodes = append(answers[i].Nodes, e)
			}
		}
	}
}

func (w *world) pod(shard, index int32) *status.Pod {
	for i := range w.Seen.Pods {
		if p := &w.Seen.Pods[i]; p.Shard == shard && p.Index == index {
			return p
		}
	}
	panic("no such pod")
}

func (w *world) told(shard, index int32) *survey.Answer {
	for i := range w.Seen.View.Answers {
		if a := &w.Seen.View.Answers[i]; a.Pod.Shard == shard && a.Pod.Index == index {
			return a
		}
	}
	panic("no such pod")
}

// asks adds an annotation that asks for something.
func (w *world) asks(annotation, value string) {
	if w.Cluster.Annotations == nil {
		w.Cluster.Annotations = map[string]string{}
	}
	w.Cluster.Annotations[annotation] = value
}

// looks decides, and keeps what is to be in the status.
func (w *world) looks() Decision {
	d := Decide(w.Input)
	for _, a := range d.Actions {
		w.Cluster.Status.Actions = slices.DeleteFunc(w.Cluster.Status.Actions, func(old v1alpha1.ActionStatus) bool { return old.Name == a.Name })
		w.Cluster.Status.Actions = append(w.Cluster.Status.Actions, a)
	}
	return d
}

// action is one of the status, as result and progress.
func (w *world) action(called string) string {
	for _, a := range w.Cluster.Status.Actions {
		if a.Name == called {
			return strings.TrimSpace(a.Result + " " + a.Progress)
		}
	}
	return ""
}

// silent makes a server not answer, and its pod not ready.
func (w *world) silent(shard, index int32) {
	a := w.told(shard, index)
	*a = survey.Answer{Pod: a.Pod, Problem: &survey.Problem{Code: survey.Unreachable, Message: "refused"}}
	w.pod(shard, index).Ready = false
}

// ran adds a Job that has ended so long ago, for what would be started now.
func (w *world) ran(kind string, attempt int32, ago time.Duration, result outcome.Result) *job.Record {
	d := Decide(w.Input)
	input := "other"
	for _, s := range d.Start {
		if s.Kind == kind {
			input = s.Input()
		}
	}
	w.Cluster.Status.JobSerial++
	serial := w.Cluster.Status.JobSerial
	w.Jobs = append(w.Jobs, job.Record{
		Name: name.Job("c", kind, serial), UID: types.UID(fmt.Sprintf("job-%d", serial)), Kind: kind, Input: input, Serial: serial, Attempt: attempt,
		Created: start.Add(-ago - time.Minute), Ended: start.Add(-ago), Failed: result != outcome.Converged,
		Outcome: &outcome.Outcome{Kind: kind, Result: result, Message: "words of the Job"},
	})
	return &w.Jobs[len(w.Jobs)-1]
}

// runs adds a Job that runs.
func (w *world) runs(kind string) *job.Record {
	r := w.ran(kind, 1, 0, outcome.Converged)
	r.Ended, r.Outcome, r.ActsUntil = time.Time{}, nil, start.Add(time.Minute)
	w.Cluster.Status.ActiveJobs = append(w.Cluster.Status.ActiveJobs, v1alpha1.ActiveJob{Kind: kind, Name: r.Name})
	return r
}

// unseen puts a Job into the status that nobody sees, though its pod may run.
func (w *world) unseen(kind string) {
	w.Cluster.Status.JobSerial++
	called := name.Job("c", kind, w.Cluster.Status.JobSerial)
	w.Cluster.Status.ActiveJobs = append(w.Cluster.Status.ActiveJobs, v1alpha1.ActiveJob{Kind: kind, Name: called})
}

// migrates has the first primary tell of an atomic migration to a node.
func (w *world) migrates(state, target string) {
	w.told(0, 0).Migrations = []node.Migration{{Name: "m", Source: nodeID(0, 0), Target: target, Slots: slot.Of(slot.Range{First: 1, Last: 9}), State: state}}
}

// planOf is a plan in which a check has decided.
func planOf(check string) plan.Plan { return plan.Plan{Check: check} }

// replicated is a cluster of topology Replication whose first pod is the primary.
func replicated(replicas int32) *world {
	w := blank(1, replicas)
	c := w.Cluster
	c.Spec = v1alpha1.ValkeyClusterSpec{Topology: v1alpha1.TopologyReplication, Replicas: new(replicas + 1), Delivery: v1alpha1.DeliveryGitOps}
	c.Default()
	c.Status.ClusterInitialized = true
	w.Seen.View.Topology = v1alpha1.TopologyReplication
	for i := range w.Seen.View.Answers {
		a := &w.Seen.View.Answers[i]
		a.Address = node.Address{IP: a.Pod.Host, Port: a.Pod.Port}
		a.Nodes, a.Keys, a.Offset, a.ReplicationID = nil, 10, 1000, "history"
		a.Uptime, a.Now = time.Hour, start.UnixMilli()
		a.Replication = &survey.Replication{Primary: i == 0, Priority: 100}
		w.Seen.Pods[i].Role = v1alpha1.RolePrimary
		if i > 0 {
			a.LinkUp = true
			a.Replication.Follows, a.Replication.Linked = survey.Endpoint{Host: "10.0.0.1", Port: 6379}, true
			w.Seen.Pods[i].Role = v1alpha1.RoleReplica
			r := w.Seen.View.Answers[0].Replication
			r.Replicas = append(r.Replicas, survey.Follower{Endpoint: survey.Endpoint{Host: a.Pod.Host, Port: 6379}, State: "online", Offset: 1000})
		}
	}
	return w
}
