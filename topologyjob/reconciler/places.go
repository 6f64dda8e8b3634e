// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/job"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// Names of the containers with what is asked.
const (
	serverContainer   = "server"
	sentinelContainer = "sentinel"
)

// places are the pods that are to be asked: those that are wanted, whether they are there
// or not, and those that are there.
func (g *gathered) places() []survey.Pod {
	c, there := g.cluster, g.there()
	shards, each := c.ShardCount(), map[int32]int32{}
	for _, s := range g.seen.StatefulSets {
		if !s.Sentinel && s.Shard >= 0 {
			each[s.Shard] = max(s.Replicas, s.Pods)
			shards = max(shards, s.Shard+1)
		}
	}
	for shard := range c.ShardCount() {
		each[shard] = max(each[shard], c.PodsPerShard())
	}
	domain := name.ServiceFQDN(name.Nodes(c.Name), c.Namespace, c.ClusterDomain())
	var list []survey.Pod
	for shard := range shards {
		for index := range each[shard] {
			pod := survey.Pod{Name: name.Pod(c.Name, shard, index), Shard: shard, Index: index, Port: int(c.Port()), Runs: survey.Stopped}
			pod.ServerName = pod.Name + "." + domain
			list = append(list, found(pod, there[pod.Name]))
		}
	}
	return list
}

// sentinels are the Sentinel pods that are wanted.
func (g *gathered) sentinels() []survey.Pod {
	c, there := g.cluster, g.there()
	domain := name.ServiceFQDN(name.Sentinel(c.Name), c.Namespace, c.ClusterDomain())
	var list []survey.Pod
	for index := range c.SentinelReplicas() {
		pod := survey.Pod{Name: name.SentinelPod(c.Name, index), Index: index, Port: v1alpha1.SentinelPort, Runs: survey.Stopped}
		pod.ServerName = pod.Name + "." + domain
		list = append(list, found(pod, there[pod.Name]))
	}
	return list
}

// there are the pods by their names.
func (g *gathered) there() map[string]*corev1.Pod {
	there := map[string]*corev1.Pod{}
	for i := range g.pods {
		there[g.pods[i].Name] = &g.pods[i]
	}
	return there
}

// found fills in what Kubernetes says of a pod, nil for one that is not there.
func found(pod survey.Pod, live *corev1.Pod) survey.Pod {
	if live != nil {
		pod.Host, pod.UID, pod.Node = live.Status.PodIP, string(live.UID), live.Spec.NodeName
		pod.Zone, pod.Runs = live.Labels[corev1.LabelTopologyZone], runs(live)
	}
	return pod
}

// runs is what Kubernetes says of a pod's server. What is not known to have stopped may run.
func runs(p *corev1.Pod) survey.Runs {
	if p.Spec.NodeName == "" || job.Terminated(p) {
		return survey.Stopped
	}
	for _, c := range p.Status.ContainerStatuses {
		if (c.Name == serverContainer || c.Name == sentinelContainer) && c.State.Running == nil && (c.State.Terminated != nil || c.State.Waiting != nil) {
			return survey.Stopped
		}
	}
	return survey.Running
}
