// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/outcome"
)

// ready is whether the cluster is fully functional and is what was asked for. Of several
// reasons why it is not the first one counts that somebody can do something about.
func (x *computation) ready() {
	const kind = v1alpha1.ConditionReady
	for _, look := range []func() *finding{
		x.hibernated, x.invalid, x.notRendered, x.requestFailed, x.applyFailed, x.missingSecrets, x.missingCertificate,
		x.awaiting, x.missingObjects, x.unscheduled, x.updating, x.stuck, x.incomplete, x.busy, x.impaired,
	} {
		if f := look(); f != nil {
			x.conditions.set(kind, false, *f)
			return
		}
	}
	x.conditions.set(kind, true, finding{v1alpha1.ReasonClusterHealthy, v1alpha1.MessageClusterHealthy})
}

func (x *computation) hibernated() *finding {
	if !x.idle() {
		return nil
	}
	return &finding{v1alpha1.ReasonHibernated, "Hibernated: no pods, claims are kept. Set spec.hibernate to false to wake it"}
}

func (x *computation) invalid() *finding {
	if x.o.Invalid == "" {
		return nil
	}
	return &finding{v1alpha1.ReasonInvalidSpec, x.o.Invalid}
}

// notRendered: whoever delivers has not rendered this generation.
func (x *computation) notRendered() *finding {
	if x.o.Rendering.Current || x.c.EffectiveDelivery() != v1alpha1.DeliveryGitOps {
		return nil
	}
	return &finding{v1alpha1.ReasonNotRendered, "Nothing is rendered for this generation, as spec.delivery is GitOps. " +
		"Either render it and commit the result (valkey-render build -f cluster.yaml --output-dir rendered), or set spec.delivery to InCluster"}
}

// requestFailed: the API server refused a request of the reconciler.
func (x *computation) requestFailed() *finding {
	if len(x.o.Failures) == 0 {
		return nil
	}
	failures := slices.Clone(x.o.Failures)
	slices.SortStableFunc(failures, func(a, b Failure) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Verb, b.Verb))
	})
	f := failures[0]
	reason := reasonOf(f)
	if strings.Contains(f.Message, "exceeded quota") {
		reason = v1alpha1.ReasonQuotaExceeded
	}
	return &finding{reason, fmt.Sprintf("Failed to %s %s %s: %s", f.Verb, f.Kind, f.Name, f.Message)}
}

func reasonOf(f Failure) string {
	switch f.Kind {
	case name.KindService:
		return v1alpha1.ReasonServiceError
	case name.KindConfigMap:
		return v1alpha1.ReasonConfigMapError
	case name.KindBudget:
		return v1alpha1.ReasonPodDisruptionBudgetError
	case "Secret":
		return v1alpha1.ReasonSystemUsersACLError
	case v1alpha1.KindNode:
		if f.Verb == VerbList {
			return v1alpha1.ReasonValkeyNodeListError
		}
		return v1alpha1.ReasonValkeyNodeError
	}
	return v1alpha1.ReasonRequestFailed
}

// applyReasons are the reasons with which an apply Job may end.
func applyReasons() []string {
	return []string{
		v1alpha1.ReasonServiceError, v1alpha1.ReasonConfigMapError, v1alpha1.ReasonPodDisruptionBudgetError,
		v1alpha1.ReasonQuotaExceeded, v1alpha1.ReasonUsersACLError, v1alpha1.ReasonSystemUsersACLError, v1alpha1.ReasonInvalidSpec,
	}
}

// applyFailed: the last apply Job could not apply something.
func (x *computation) applyFailed() *finding {
	j := x.lastJob(kindApply)
	if j == nil || !j.failed() || x.o.Rendering.Current {
		return nil
	}
	reason := v1alpha1.ReasonRequestFailed
	if j.Outcome != nil && slices.Contains(applyReasons(), j.Outcome.Reason) {
		reason = j.Outcome.Reason
	}
	if j.Outcome != nil && j.Outcome.Result == outcome.BadInput {
		reason = v1alpha1.ReasonInvalidSpec
	}
	return &finding{reason, "Failed to apply the rendered objects: " + j.said()}
}

// missingObjects: something rendered was deleted, or is yet to be applied.
func (x *computation) missingObjects() *finding {
	missing := x.missing()
	for _, kind := range []struct{ kind, reason string }{
		{name.KindService, v1alpha1.ReasonServiceError},
		{name.KindConfigMap, v1alpha1.ReasonConfigMapError},
		{name.KindBudget, v1alpha1.ReasonPodDisruptionBudgetError},
	} {
		if list := missing[kind.kind]; len(list) > 0 {
			return &finding{kind.reason, some(list) + " missing: " + x.applyAgain()}
		}
	}
	if list := missing[name.KindStatefulSet]; len(list) > 0 {
		if !x.initialized {
			return &finding{v1alpha1.ReasonMissingShards, v1alpha1.MessageMissingShards}
		}
		return &finding{v1alpha1.ReasonMissingShards, some(list) + " missing: " + x.applyAgain()}
	}
	if list := missing[name.KindClaim]; len(list) > 0 {
		return &finding{v1alpha1.ReasonPersistentVolumeClaimPending, some(list) + " missing: " + x.applyAgain()}
	}
	return nil
}

func (x *computation) unscheduled() *finding {
	if d := x.conditions[v1alpha1.ConditionDegraded]; d.Reason == v1alpha1.ReasonPodUnschedulable {
		return &finding{d.Reason, d.Message}
	}
	return nil
}

func (x *computation) updating() *finding {
	if x.rolling() {
		return &finding{v1alpha1.ReasonUpdatingNodes, "Pods are being replaced"}
	}
	return nil
}

// stuck: nothing happens until somebody acts.
func (x *computation) stuck() *finding {
	s := x.conditions[v1alpha1.ConditionStalled]
	if s.Type == "" {
		return nil
	}
	return &finding{s.Reason, s.Message}
}

// incomplete: shards or replicas are missing, or slots have no owner.
func (x *computation) incomplete() *finding {
	formed := x.conditions[v1alpha1.ConditionClusterFormed]
	switch {
	case formed.Status == "True" && !x.assigned():
		return &finding{v1alpha1.ReasonReconciling, x.conditions[v1alpha1.ConditionSlotsAssigned].Message}
	case formed.Status == "True":
		return nil
	case formed.Reason == v1alpha1.ReasonMissingShards:
		return &finding{v1alpha1.ReasonMissingShards, v1alpha1.MessageMissingShards}
	}
	return &finding{formed.Reason, formed.Message}
}

func (x *computation) busy() *finding {
	if x.conditions.isTrue(v1alpha1.ConditionProgressing) {
		return &finding{v1alpha1.ReasonReconciling, v1alpha1.MessageReconciling}
	}
	return nil
}

// impaired: whatever else keeps it from being whole.
func (x *computation) impaired() *finding {
	if d := x.conditions[v1alpha1.ConditionDegraded]; d.Type != "" {
		return &finding{d.Reason, d.Message}
	}
	for _, kind := range []string{v1alpha1.ConditionAvailable, v1alpha1.ConditionShardsHealthy, v1alpha1.ConditionClusterInitialized} {
		if c := x.conditions[kind]; c.Status != "True" {
			return &finding{v1alpha1.ReasonReconciling, c.Message}
		}
	}
	if x.c.Spec.Hibernate {
		return &finding{v1alpha1.ReasonReconciling, "Pods are going away, as spec.hibernate asks"}
	}
	if a := x.conditions[v1alpha1.ConditionACLApplied]; a.Status != "True" && a.Reason == v1alpha1.ReasonApplyFailed {
		return &finding{v1alpha1.ReasonUsersACLError, a.Message}
	}
	return nil
}
