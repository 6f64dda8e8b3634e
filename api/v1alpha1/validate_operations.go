// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"net/netip"
	"regexp"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func (c *ValkeyCluster) validateMetrics(v *violations, path *field.Path) {
	m := c.Spec.Metrics
	if m == nil {
		return
	}
	v.image(path.Child("image"), m.Image)
	v.resources(path.Child("resources"), m.Resources)
	for i, arg := range m.Args {
		if at := path.Child("args").Index(i); v.exporterArg(at, arg) {
			v.printable(at, arg)
		}
	}
	for _, o := range []struct {
		name    string
		monitor *MonitorSpec
	}{{"podMonitor", m.PodMonitor}, {"prometheusRule", m.PrometheusRule}, {"dashboard", m.Dashboard}} {
		if o.monitor == nil {
			continue
		}
		at := path.Child(o.name)
		v.labels(at.Child("labels"), o.monitor.Labels)
		v.lasting(at.Child("interval"), o.monitor.Interval, time.Second, time.Hour)
		if o.monitor.Interval != nil && o.monitor != m.PodMonitor {
			v.forbidden(at.Child("interval"), "only the podMonitor scrapes")
		}
	}
}

func (c *ValkeyCluster) validateNetworkPolicy(v *violations, path *field.Path) {
	n := c.Spec.NetworkPolicy
	if n == nil {
		return
	}
	at := path.Child("allowFrom")
	if len(n.AllowFrom) > 0 && !n.Enabled {
		v.forbidden(at, "restricts nobody without enabled: true beside it")
	}
	for i, peer := range n.AllowFrom {
		at := at.Index(i)
		v.list = append(v.list, validation.ValidateLabelSelector(peer.PodSelector, validation.LabelSelectorValidationOptions{}, at.Child("podSelector"))...)
		v.list = append(v.list, validation.ValidateLabelSelector(peer.NamespaceSelector, validation.LabelSelectorValidationOptions{}, at.Child("namespaceSelector"))...)
		switch selects := peer.PodSelector != nil || peer.NamespaceSelector != nil; {
		case peer.IPBlock == nil && !selects:
			v.required(at, "podSelector, namespaceSelector or ipBlock; podSelector: {} is every pod of the namespace")
		case peer.IPBlock != nil && selects:
			v.forbidden(at.Child("ipBlock"), "cannot stand beside a selector: make it an entry of its own")
		}
		if peer.IPBlock != nil {
			v.cidr(at.Child("ipBlock", "cidr"), peer.IPBlock.CIDR)
			for j, except := range peer.IPBlock.Except {
				v.exception(at.Child("ipBlock", "except").Index(j), peer.IPBlock.CIDR, except)
			}
		}
	}
}

func (v *violations) cidr(path *field.Path, cidr string) {
	if prefix, err := netip.ParsePrefix(cidr); err != nil {
		v.invalid(path, cidr, "must be an address range like 10.0.0.0/8 or fd00::/8")
	} else if prefix.Masked() != prefix {
		v.invalid(path, cidr, "has bits set behind its prefix: did you mean %s?", prefix.Masked())
	}
}

// exception reports what takes nothing, or everything, out of a range.
func (v *violations) exception(path *field.Path, cidr, except string) {
	v.cidr(path, except)
	whole, err1 := netip.ParsePrefix(cidr)
	part, err2 := netip.ParsePrefix(except)
	if err1 == nil && err2 == nil && (!whole.Contains(part.Addr()) || part.Bits() <= whole.Bits()) {
		v.invalid(path, except, "must be inside of %s and smaller", cidr)
	}
}

// validateOperations checks rollout, failover, rebalance, jobs, hibernation and
// the policies of delivery and deletion.
func (c *ValkeyCluster) validateOperations(v *violations, spec *field.Path) {
	s := &c.Spec
	oneOf(v, spec.Child("delivery"), s.Delivery, DeliveryInCluster, DeliveryGitOps)
	oneOf(v, spec.Child("jobs"), s.Jobs, JobsReconciler, JobsRendered)
	oneOf(v, spec.Child("deletionPolicy"), s.DeletionPolicy, DeletionGuard, DeletionAllow)
	c.validateRollout(v, spec)
	c.validateFailover(v, spec.Child("failover"))
	if r := s.Rebalance; r != nil {
		path := spec.Child("rebalance")
		if !c.IsCluster() && c.knownTopology() {
			v.forbidden(path, "topology %s has no slots to move", s.Topology)
		}
		within(v, path.Child("maxConcurrent"), r.MaxConcurrent, 1, 64)
		within(v, path.Child("batchSlots"), r.BatchSlots, 1, 16384)
	}
	if s.Hibernate && !c.Persisted() && !c.DataLossAllowed() {
		v.invalid(spec.Child("hibernate"), true, "nothing is persisted, so the data would be lost: set rollout.allowDataLoss: true if it may be, or give the cluster storage at its birth")
	}
}

func (c *ValkeyCluster) validateRollout(v *violations, spec *field.Path) {
	path := spec.Child("rollout")
	if r := c.Spec.Rollout; r != nil {
		oneOf(v, path.Child("mode"), r.Mode, RolloutOrchestrated, RolloutStatefulSet)
		within(v, path.Child("maxParallelShards"), r.MaxParallelShards, 1, MaxShards)
		if deref(r.MaxParallelShards, 1) > 1 && !c.IsCluster() && c.knownTopology() {
			v.invalid(path.Child("maxParallelShards"), *r.MaxParallelShards, "topology %s has one shard", c.Spec.Topology)
		}
	}
	if c.Spec.Jobs != JobsRendered {
		return
	}
	if t := c.EffectiveTopology(); t == TopologyReplication || t == TopologySentinel {
		v.invalid(spec.Child("jobs"), JobsRendered, "only topology Cluster and Standalone can do without the reconciler; this is topology %s", t)
	}
	if c.RolloutMode() == RolloutOrchestrated {
		v.invalid(path.Child("mode"), RolloutOrchestrated, "needs the reconciler, which jobs: Rendered does without: did you mean StatefulSet?")
	}
}

func (c *ValkeyCluster) validateFailover(v *violations, path *field.Path) {
	f := c.Spec.Failover
	if f == nil {
		return
	}
	oneOf(v, path.Child("quorumTakeover"), f.QuorumTakeover, QuorumTakeoverAuto, QuorumTakeoverManual)
	v.lasting(path.Child("nodeTimeout"), f.NodeTimeout, 500*time.Millisecond, 10*time.Minute)
	v.lasting(path.Child("detection"), f.Detection, time.Second, 10*time.Minute)
	if !c.knownTopology() {
		return
	}
	instead := map[Topology]string{
		TopologyReplication: "; topology Replication has detection",
		TopologySentinel:    "; topology Sentinel has sentinel.downAfter",
		TopologyCluster:     "; topology Cluster has nodeTimeout",
	}[c.EffectiveTopology()]
	if f.NodeTimeout != nil && !c.IsCluster() {
		v.forbidden(path.Child("nodeTimeout"), "only for topology Cluster%s", instead)
	}
	if f.QuorumTakeover != "" && !c.IsCluster() {
		v.forbidden(path.Child("quorumTakeover"), "only for topology Cluster")
	}
	if f.Detection != nil && c.EffectiveTopology() != TopologyReplication {
		v.forbidden(path.Child("detection"), "only for topology Replication%s", instead)
	}
}

func (c *ValkeyCluster) validateJobsTemplate(v *violations, path *field.Path) {
	j := c.Spec.JobsTemplate
	if j == nil {
		return
	}
	v.tolerations(path.Child("tolerations"), j.Tolerations)
	v.subdomain(path.Child("priorityClassName"), j.PriorityClassName)
	v.labels(path.Child("nodeSelector"), j.NodeSelector)
	v.pullSecrets(path.Child("imagePullSecrets"), j.ImagePullSecrets)
	v.annotations(path.Child("annotations"), j.Annotations)
	v.resources(path.Child("resources"), j.Resources)
}

// validatePatches holds that there is something to apply and a way to find what
// to apply it to; what it says is checked when it is applied.
func (c *ValkeyCluster) validatePatches(v *violations, path *field.Path) {
	for i, p := range c.Spec.Patches {
		at := path.Index(i)
		if strings.TrimSpace(p.Patch) == "" {
			v.required(at.Child("patch"), "a strategic merge patch or a list of JSON 6902 operations")
		}
		if p.Target == nil {
			continue
		}
		at = at.Child("target")
		if *p.Target == (PatchTarget{}) {
			v.required(at, "what to patch: kind, name, labelSelector, …; without target the patch itself names it")
		}
		for _, f := range []struct{ name, value string }{
			{"group", p.Target.Group}, {"version", p.Target.Version}, {"kind", p.Target.Kind}, {"name", p.Target.Name},
		} {
			if _, err := regexp.Compile(f.value); err != nil {
				v.invalid(at.Child(f.name), f.value, "must be a regular expression: %s", err)
			}
		}
		for _, f := range []struct{ name, value string }{
			{"labelSelector", p.Target.LabelSelector}, {"annotationSelector", p.Target.AnnotationSelector},
		} {
			if _, err := labels.Parse(f.value); err != nil {
				v.invalid(at.Child(f.name), f.value, "must be a selector like key=value,other!=value: %s", err)
			}
		}
	}
}
