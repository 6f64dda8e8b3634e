// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

func TestRoleLabels(t *testing.T) {
	follow := func(a *survey.Answer, host string) {
		a.Replication.Primary = false
		a.Replication.Follows = survey.Endpoint{Host: host, Port: 6379}
	}
	for _, s := range []struct {
		name string
		edit func(*world)
		want string
	}{
		{"right as they are", func(*world) {}, ""},
		{"a new pod gets its role", func(w *world) { w.pod(0, 2).Role = "" }, "c-0-2 replica"},
		{"first away from who was the primary", func(w *world) {
			follow(w.told(0, 0), "10.0.0.2")
			follow(w.told(0, 2), "10.0.0.2")
			w.told(0, 1).Replication = &survey.Replication{Primary: true, Priority: 100}
		}, "c-0-0 replica, c-0-1 primary"},
		{"a dead primary is none once there is another", func(w *world) {
			follow(w.told(0, 2), "10.0.0.2")
			w.told(0, 1).Replication = &survey.Replication{Primary: true, Priority: 100}
			w.silent(0, 0)
		}, "c-0-0 replica, c-0-1 primary"},
		{"and keeps its label until then", func(w *world) { w.silent(0, 0) }, ""},
		{"two primaries change nothing", func(w *world) {
			w.told(0, 1).Replication = &survey.Replication{Primary: true, Priority: 100}
		}, ""},
		{"a pod that was replaced since it was asked", func(w *world) { w.pod(0, 0).UID, w.pod(0, 0).Role = "another", "" }, "c-0-0 replica"},
	} {
		t.Run(s.name, func(t *testing.T) {
			w := replicated(2)
			s.edit(w)
			d := Decide(w.Input)
			var got []string
			for _, l := range d.Labels {
				got = append(got, fmt.Sprintf("%s %s", l.Pod, l.Role))
			}
			if strings.Join(got, ", ") != s.want {
				t.Errorf("%q, want %q", got, s.want)
			}
			if d.After > time.Second {
				t.Errorf("looks again after %s only", d.After)
			}
		})
	}
}

func TestReplicationDecisions(t *testing.T) {
	for _, s := range []struct {
		name string
		edit func(*world)
		want string
	}{
		{"all is well", func(*world) {}, "nothing"},
		{"the primary's pod is gone", func(w *world) {
			w.silent(0, 0)
			w.told(0, 0).Pod.Runs = survey.Stopped
			for _, i := range []int32{1, 2} {
				a := w.told(0, i)
				a.LinkUp, a.Replication.Silence = false, time.Minute
			}
		}, "start failover-1 attempt 1"},
		{"replicas are replaced first", func(w *world) { w.old(0, 0, 1, 2) }, "evict c-0-2"},
		{"and the primary after a handover", func(w *world) { w.old(0, 0) }, "start handover-1 attempt 1"},
		{"not while a replica is in its first sync", func(w *world) { w.old(0, 0); w.told(0, 1).LinkUp = false }, "nothing"},
		{"Standalone rolls as it may", func(w *world) {
			w.Cluster.Spec = v1alpha1.ValkeyClusterSpec{Topology: v1alpha1.TopologyStandalone, Delivery: v1alpha1.DeliveryGitOps}
			w.Cluster.Default()
			w.Seen.StatefulSets[0].Replicas, w.Seen.Pods, w.Asked = 1, w.Seen.Pods[:1], w.Asked[:1]
			w.Seen.View.Topology, w.Seen.View.Answers = v1alpha1.TopologyStandalone, w.Seen.View.Answers[:1]
			w.Seen.View.Answers[0].Replication.Replicas = nil
			w.old(0, 0)
		}, "evict c-0-0"},
	} {
		t.Run(s.name, func(t *testing.T) {
			w := replicated(2)
			s.edit(w)
			d := Decide(w.Input)
			if got := d.line(); got != s.want {
				t.Errorf("%s\nwant %s\n%+v", got, s.want, d.Next)
			}
		})
	}
}

// TestAPrimaryThatHangsIsFenced when nobody has heard of it: not on our word alone, and not
// when that would leave nobody to elect.
func TestAPrimaryThatHangsIsFenced(t *testing.T) {
	hangs := func(w *world) {
		w.silent(0, 0)
		w.told(0, 0).Pod.Runs = survey.Running
		for _, i := range []int32{1, 2} {
			w.told(0, i).Replication.Silence = 3 * time.Second
		}
	}
	for _, s := range []struct {
		name string
		edit func(*world)
		want string
	}{
		{"its replicas hear nothing", func(*world) {}, "evict c-0-0"},
		{"nor have a link", func(w *world) { w.told(0, 1).LinkUp = false }, "evict c-0-0"},
		{"it goes already", func(w *world) { w.pod(0, 0).Deleting = true }, "nothing"},
		{"a replica hears it", func(w *world) { w.told(0, 2).Replication.Silence = time.Second }, "nothing"},
		{"it has longer", func(w *world) {
			w.Cluster.Spec.Failover = &v1alpha1.FailoverSpec{Detection: &metav1.Duration{Duration: 4 * time.Second}}
		}, "nothing"},
		{"a replica is of another primary", func(w *world) { w.told(0, 2).Replication.Follows.Host = "10.0.0.9" }, "nothing"},
		{"a replica that may not be the primary is none", func(w *world) {
			w.told(0, 1).Replication.Priority, w.told(0, 2).Replication.Syncing = 0, true
		}, "nothing"},
		{"it is no primary by its label", func(w *world) { w.pod(0, 0).Role = v1alpha1.RoleReplica }, "nothing"},
		{"it is another pod by now", func(w *world) { w.pod(0, 0).UID = "another" }, "nothing"},
		{"a replica hangs too, and may be the primary", func(w *world) {
			w.silent(0, 2)
			w.told(0, 2).Pod.Runs = survey.Running
		}, "nothing"},
		{"a replica reads its data, and may hear it", func(w *world) {
			w.silent(0, 2)
			w.told(0, 2).Problem.Code = survey.Loading
		}, "nothing"},
		{"a replica that does not run hears nothing", func(w *world) {
			w.silent(0, 2)
			w.told(0, 2).Pod.Runs = survey.Stopped
		}, "evict c-0-0"},
		{"it refuses us, and is there", func(w *world) { w.told(0, 0).Problem.Code = survey.Loading }, "nothing"},
		{"Sentinels elect by themselves", func(w *world) {
			w.Cluster.Spec.Topology = v1alpha1.TopologySentinel
			w.Cluster.Default()
		}, "nothing"},
	} {
		t.Run(s.name, func(t *testing.T) {
			w := replicated(2)
			hangs(w)
			s.edit(w)
			d := Decide(w.Input)
			if got := d.line(); got != s.want {
				t.Errorf("%s\nwant %s\n%+v", got, s.want, d.Next)
			}
			for _, e := range d.Evict {
				if e.Grace != fenceGrace || e.UID != "uid-0-0" {
					t.Errorf("%+v", e)
				}
			}
		})
	}
}
