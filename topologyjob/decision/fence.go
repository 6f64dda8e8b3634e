// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"fmt"
	"time"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/topologyjob/plan"
	"github.com/valkey-render/valkey-render/topologyjob/status"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// fenceGrace is what a pod that hangs has to end: a server that answers nobody does not
// hear SIGTERM either, and one that was misjudged hands over and ends in that time.
const fenceGrace = 2 * time.Second

// fence has the pod of a primary deleted that neither answers nor was heard of by any of
// its replicas for as long as spec.failover.detection, though Kubernetes says that it runs.
// As long as it may, nobody is elected, and the kubelet's liveness probe takes a minute to
// end it. It reports whether it has the floor: what follows needs Kubernetes to say that
// nothing of the pod runs.
//
// Sentinels elect by themselves, and a Cluster's servers do.
func (in Input) fence(d *Decision, p plan.Plan) bool {
	if in.Cluster.EffectiveTopology() != v1alpha1.TopologyReplication {
		return false
	}
	pod := in.hung(p)
	if pod == nil || pod.Deleting || !in.forsaken(pod) {
		return false
	}
	d.Evict = append(d.Evict, Eviction{
		Pod: pod.Name, UID: string(pod.UID), Grace: fenceGrace,
		Why: fmt.Sprintf("it answers nobody, and its replicas have not heard of it for %s", in.Cluster.Detection()),
	})
	d.wait(time.Second, "pod %s, the primary that answers nobody, is to end", pod.Name)
	return true
}

// hung is the one pod that may still be the primary and is by its label, nil when there is
// none or more than one may be.
func (in Input) hung(p plan.Plan) *status.Pod {
	called := ""
	for _, w := range p.Waiting {
		switch {
		case !w.Fence:
		case called != "" && called != w.Pod:
			return nil
		default:
			called = w.Pod
		}
	}
	for i := range in.Seen.Pods {
		if pod := &in.Seen.Pods[i]; called != "" && pod.Name == called && pod.Role == v1alpha1.RolePrimary {
			return pod
		}
	}
	return nil
}

// forsaken is whether every other server is a replica of a pod and has heard nothing of it for
// long enough, and one of them at least could be the primary. One that runs and does not tell
// may hear it.
func (in Input) forsaken(pod *status.Pod) bool {
	n := 0
	for i := range in.Seen.View.Answers {
		a := &in.Seen.View.Answers[i]
		if !a.Answered() {
			if a.Pod.Name != pod.Name && a.Pod.Runs != survey.Stopped {
				return false
			}
			continue
		}
		primary := in.Seen.View.At(a.Replication.Follows)
		if a.Replication.Primary || primary == nil || primary.Pod.Name != pod.Name || primary.Pod.UID != string(pod.UID) ||
			a.Replication.Silence < in.Cluster.Detection() {
			return false
		}
		if a.Replication.Linked && !a.Replication.Syncing && a.Replication.Priority != 0 {
			n++
		}
	}
	return n > 0
}
