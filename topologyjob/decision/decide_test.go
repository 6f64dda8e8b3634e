// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/job"
	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/outcome"
	"github.com/valkey-render/valkey-render/topologyjob/status"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// line is a decision in one line.
func (d Decision) line() string {
	var parts []string
	if d.Secrets {
		parts = append(parts, "secrets")
	}
	for _, j := range d.Stop {
		parts = append(parts, "stop "+j.Name)
	}
	for _, s := range d.Start {
		parts = append(parts, fmt.Sprintf("start %s-%d attempt %d", s.Kind, s.Serial, s.Attempt))
	}
	for _, e := range d.Evict {
		parts = append(parts, "evict "+e.Pod)
	}
	for _, s := range d.Release {
		parts = append(parts, fmt.Sprintf("release %d", s))
	}
	if d.Next.Blocked != nil {
		parts = append(parts, "blocked "+d.Next.Blocked.Reason)
	}
	if d.Next.RollRefused != "" {
		parts = append(parts, "roll refused")
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}

func TestDecisions(t *testing.T) {
	for _, s := range []struct {
		name string
		w    *world
		edit func(*world)
		want string
	}{
		{"a healthy cluster is left alone", formed(3, 1), nil, "nothing"},
		{"empty servers are formed", blank(3, 1), nil, "start bootstrap-1 attempt 1"},
		{"Secrets are written before anything else is known", blank(3, 1), func(w *world) { w.Secrets, w.Seen.View = 3, nil }, "secrets"},
		{"lost passwords are not replaced while servers run", formed(3, 1), func(w *world) { w.LockedOut, w.Secrets = true, 3 }, "blocked JobBlocked"},
		{"a spec that is not valid stops everything", blank(3, 1), func(w *world) { w.Invalid, w.Secrets = "spec.shards: no", 3 }, "nothing"},
		{"spec.suspend starts nothing", blank(3, 1), func(w *world) { w.Cluster.Spec.Suspend, w.Secrets = true, 3 }, "nothing"},
		{"rendered Jobs are somebody else's", blank(3, 1), func(w *world) { w.Cluster.Spec.Jobs = v1alpha1.JobsRendered }, "nothing"},
		{"a hibernating cluster is left alone", blank(3, 1), func(w *world) { w.Cluster.Spec.Hibernate = true }, "nothing"},
		{"nothing rendered", blank(3, 1), func(w *world) { w.Seen.StatefulSets = nil }, "nothing"},
		{"a server that does not answer yet is waited for", blank(3, 1), func(w *world) { w.silent(1, 1) }, "nothing"},

		{"a pod that joins is repaired", formed(3, 1), func(w *world) {
			a := w.told(2, 1)
			w.dies(a.ID)
			a.ID, a.LinkUp, a.Keys = "new"+nodeID(2, 1)[3:], false, 0
			a.Nodes = []node.Entry{{ID: a.ID, Myself: true, Linked: true}}
		}, "start repair-1 attempt 1"},
		{"a new shard gets slots", formed(3, 1), func(w *world) {
			w.Cluster.Spec.Shards = new(int32(4))
			w.shard(3, 1)
			a := w.told(3, 1)
			a.LinkUp, a.Nodes[0].Replica, a.Nodes[0].Primary = true, true, nodeID(3, 0)
			w.gossip()
		}, "start rebalance-1 attempt 1"},
		{"and none when rebalancing is off", formed(3, 1), func(w *world) {
			w.Cluster.Spec.Shards = new(int32(4))
			w.Cluster.Spec.Rebalance = &v1alpha1.RebalanceSpec{Enabled: new(false)}
			w.shard(3, 1)
			a := w.told(3, 1)
			a.LinkUp, a.Nodes[0].Replica, a.Nodes[0].Primary = true, true, nodeID(3, 0)
			w.gossip()
		}, "nothing"},
		{"a shard too many is drained", formed(4, 1), func(w *world) { w.Cluster.Spec.Shards = new(int32(3)) }, "start drain-1 attempt 1"},

		{"one Job at a time", blank(3, 1), func(w *world) { w.runs(job.Repair) }, "nothing"},
		{"one that knows the pods as they are goes on", blank(3, 1), func(w *world) {
			w.runs(job.Repair).Pods = []job.Told{{Name: "c-0-0", Host: "10.0.0.1"}, {Name: "c-9-9", Host: "10.0.9.9"}}
		}, "nothing"},
		{"one that was told of a pod before it had an address gives way", blank(3, 1), func(w *world) {
			w.runs(job.Repair).Pods = []job.Told{{Name: "c-0-0", UID: "uid-0-0"}}
		}, "stop c-repair-1"},
		{"one that was told of a pod at another address gives way", blank(3, 1), func(w *world) {
			w.runs(job.Repair).Pods = []job.Told{{Name: "c-0-0", Host: "10.0.0.9"}}
		}, "stop c-repair-1"},
		{"and is not stopped twice", blank(3, 1), func(w *world) {
			r := w.runs(job.Repair)
			r.Pods, r.Leaving = []job.Told{{Name: "c-0-0", Host: "10.0.0.9"}}, true
		}, "nothing"},
		{"a settings Job runs beside", blank(3, 1), func(w *world) { w.runs("liveconfig") }, "start bootstrap-2 attempt 1"},
		{"a Job in the status that nobody has seen yet", blank(3, 1), func(w *world) {
			w.Cluster.Status.JobSerial = 7
			w.Cluster.Status.ActiveJobs = []v1alpha1.ActiveJob{{Kind: job.Repair, Name: "c-repair-7"}}
		}, "nothing"},
		{"and one that is gone", blank(3, 1), func(w *world) {
			w.Cluster.Status.JobSerial = 7
			w.Cluster.Status.ActiveJobs = []v1alpha1.ActiveJob{{Kind: job.Repair, Name: "c-repair-7"}}
			w.Seen.Jobs = []status.Job{{Name: "c-repair-7", Phase: status.JobGone}}
		}, "start bootstrap-8 attempt 1"},
		{"and one that was never created", blank(3, 1), func(w *world) {
			w.Cluster.Status.JobSerial = 7
			w.Cluster.Status.ActiveJobs = []v1alpha1.ActiveJob{{Kind: job.Bootstrap, Name: "c-bootstrap-7"}}
			w.Unborn = map[string]int64{"c-bootstrap-7": 7}
		}, "start bootstrap-7 attempt 1"},
		{"unless another kind is wanted", blank(3, 1), func(w *world) {
			w.Cluster.Status.JobSerial = 7
			w.Cluster.Status.ActiveJobs = []v1alpha1.ActiveJob{{Kind: job.Repair, Name: "c-repair-7"}}
			w.Unborn = map[string]int64{"c-repair-7": 7}
		}, "start bootstrap-8 attempt 1"},
		{"a Job that has failed is followed after a while", blank(3, 1), func(w *world) { w.ran(job.Bootstrap, 1, 2*time.Second, outcome.Failed) }, "nothing"},
		{"and then by the next attempt", blank(3, 1), func(w *world) { w.ran(job.Bootstrap, 1, 6*time.Second, outcome.Failed) }, "start bootstrap-2 attempt 2"},
		{"the sixth is the last", blank(3, 1), func(w *world) { w.ran(job.Bootstrap, 6, time.Hour, outcome.Failed) }, "blocked JobBlocked"},
		{"until somebody asks for a retry", blank(3, 1), func(w *world) {
			w.ran(job.Bootstrap, 6, time.Hour, outcome.Failed)
			w.Cluster.Annotations = map[string]string{v1alpha1.AnnotationRetry: "1"}
		}, "start bootstrap-2 attempt 1"},
		{"or the spec changes", blank(3, 1), func(w *world) {
			w.ran(job.Bootstrap, 6, time.Hour, outcome.Failed)
			w.Cluster.Generation++
		}, "start bootstrap-2 attempt 1"},
		{"or the failed Job is deleted", blank(3, 1), func(w *world) {
			w.ran(job.Bootstrap, 6, time.Hour, outcome.Failed)
			w.Jobs = nil
		}, "start bootstrap-2 attempt 1"},
		{"an interrupted Job goes on without counting", blank(3, 1), func(w *world) { w.ran(job.Bootstrap, 6, time.Minute, outcome.Interrupted) }, "start bootstrap-2 attempt 6"},
		{"a Job that ended well is remembered for a while", formed(3, 1), func(w *world) { w.ran(job.Repair, 1, time.Second, outcome.Converged) }, "nothing"},
		{"and then deleted", formed(3, 1), func(w *world) { w.ran(job.Repair, 1, time.Hour, outcome.Converged) }, "stop c-repair-1"},
		{"the last failure stays", formed(3, 1), func(w *world) {
			w.ran(job.Repair, 1, 2*time.Hour, outcome.Failed)
			w.ran(job.Repair, 2, time.Hour, outcome.Failed)
		}, "stop c-repair-1"},

		{"moves of slots give way to a takeover", formed(3, 1), func(w *world) {
			w.majorityLost()
			w.runs(job.Rebalance)
		}, "stop c-rebalance-1"},
		{"which starts when they have ended", formed(3, 1), func(w *world) { w.majorityLost() }, "start takeover-1 attempt 1"},
		{"but not for a Durable cluster", formed(3, 1), func(w *world) {
			w.Cluster.Spec.Failover.QuorumTakeover = v1alpha1.QuorumTakeoverManual
			w.majorityLost()
		}, "blocked QuorumLost"},
		{"unless somebody asks", formed(3, 1), func(w *world) {
			w.Cluster.Spec.Failover.QuorumTakeover = v1alpha1.QuorumTakeoverManual
			w.Cluster.Annotations = map[string]string{v1alpha1.AnnotationQuorumTakeover: "1"}
			w.majorityLost()
		}, "start takeover-1 attempt 1"},
	} {
		t.Run(s.name, func(t *testing.T) {
			if s.edit != nil {
				s.edit(s.w)
			}
			d := Decide(s.w.Input)
			if got := d.line(); got != s.want {
				t.Errorf("%s\nwant %s\n%+v", got, s.want, d.Next)
			}
			if d.After <= 0 || d.After > s.w.Resync {
				t.Errorf("looks again after %s", d.After)
			}
		})
	}
}

// majorityLost ends the primaries of two of three shards for good.
func (w *world) majorityLost() {
	for shard := range int32(2) {
		w.silent(shard, 0)
		w.told(shard, 0).Pod.Runs = survey.Stopped
		w.pod(shard, 0).Waiting = "CrashLoopBackOff"
	}
	w.dies(nodeID(0, 0), nodeID(1, 0))
}

// dies makes everybody believe that nodes died a minute ago.
func (w *world) dies(ids ...string) {
	for i := range w.Seen.View.Answers {
		a := &w.Seen.View.Answers[i]
		a.Uptime, a.Now = time.Hour, start.UnixMilli()
		for j := range a.Nodes {
			e := &a.Nodes[j]
			e.Pong = start.UnixMilli()
			if slices.Contains(ids, e.ID) && !e.Myself {
				e.Failed, e.Linked, e.Pong = true, false, start.Add(-time.Minute).UnixMilli()
			}
		}
	}
}

func TestAJobKnowsEveryPod(t *testing.T) {
	w := blank(2, 1)
	w.Cluster.Status.ClusterInitialized = true
	w.Asked[3].Host, w.Asked[3].UID, w.Asked[3].Runs = "", "", survey.Stopped
	o := w.order(Desired(w.Cluster), planOf("attach"))
	for _, want := range []string{
		"--pod=c-0-0=10.0.0.1,uid=uid-0-0,runs=Running", "--pod=c-1-1=,runs=Stopped", "--initialized", "--takeover",
		"--shards=2", "--replicas=1", "--pod-domain=c-nodes.shop.svc.cluster.local",
	} {
		if !slices.Contains(o.Args, want) {
			t.Errorf("no %s in %q", want, o.Args)
		}
	}
}

func TestTheNameOfAJobIsInTheStatusFirst(t *testing.T) {
	d := Decide(blank(3, 1).Input)
	want := status.Start{Name: name.Job("c", job.Bootstrap, 1), Kind: job.Bootstrap, Serial: 1, Attempt: 1}
	if len(d.Next.Start) != 1 || d.Next.Start[0] != want {
		t.Errorf("%+v, want %+v", d.Next.Start, want)
	}
}
