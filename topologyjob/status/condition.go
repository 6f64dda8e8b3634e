// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"cmp"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
)

// finding is what a condition says.
type finding struct {
	reason  string
	message string
}

// conditions are those of a cluster or a node, by type; one that is not in it is absent.
type conditions map[string]metav1.Condition

func (c conditions) set(kind string, status bool, f finding) {
	value := metav1.ConditionFalse
	if status {
		value = metav1.ConditionTrue
	}
	c[kind] = metav1.Condition{Type: kind, Status: value, Reason: f.reason, Message: cmp.Or(clip(f.message), f.reason)}
}

// present sets a condition that is True or absent.
func (c conditions) present(kind string, f *finding) {
	if f != nil {
		c.set(kind, true, *f)
	}
}

func (c conditions) is(kind string, status metav1.ConditionStatus) bool {
	return c[kind].Status == status
}

func (c conditions) isTrue(kind string) bool { return c.is(kind, metav1.ConditionTrue) }

// order is the order of conditions: the first ones are what people look for.
func order() []string {
	return []string{
		v1alpha1.ConditionReady, v1alpha1.ConditionProgressing, v1alpha1.ConditionDegraded, v1alpha1.ConditionAvailable,
		v1alpha1.ConditionClusterFormed, v1alpha1.ConditionSlotsAssigned, v1alpha1.ConditionShardsHealthy,
		v1alpha1.ConditionClusterInitialized, v1alpha1.ConditionConfigApplied, v1alpha1.ConditionACLApplied,
		v1alpha1.ConditionConfigurationWarning, v1alpha1.ConditionPrunePending,
		v1alpha1.ConditionPersistentVolumeClaimReady, v1alpha1.ConditionPersistentVolumeClaimSizeReady,
		v1alpha1.ConditionLiveConfigApplied, v1alpha1.ConditionTLSReloaded,
		v1alpha1.ConditionReconciling, v1alpha1.ConditionStalled,
	}
}

// list puts conditions in order. lastTransitionTime is when the status of one changed.
func (c conditions) list(before []metav1.Condition, generation int64, now metav1.Time) []metav1.Condition {
	var list []metav1.Condition
	for _, kind := range order() {
		condition, there := c[kind]
		if !there {
			continue
		}
		condition.ObservedGeneration, condition.LastTransitionTime = generation, now
		if old := find(before, kind); old != nil && old.Status == condition.Status && !old.LastTransitionTime.IsZero() {
			condition.LastTransitionTime = old.LastTransitionTime
		}
		list = append(list, condition)
	}
	return list
}

// find returns a condition of a list, nil when it is absent.
func find(list []metav1.Condition, kind string) *metav1.Condition {
	for i := range list {
		if list[i].Type == kind {
			return &list[i]
		}
	}
	return nil
}

// keep is what a condition said before, when nothing new is known of it.
func (x *computation) keep(kind string, otherwise finding) {
	if old := find(x.before.Conditions, kind); old != nil {
		x.conditions[kind] = metav1.Condition{Type: kind, Status: old.Status, Reason: old.Reason, Message: old.Message}
		return
	}
	x.conditions.set(kind, false, otherwise)
}

// most is how long a message may be: what a person reads at once, and what an event takes.
const most = 1000

// clip bounds a text, at a character.
func clip(text string) string {
	text = strings.ToValidUTF8(strings.TrimSpace(text), "?")
	if len(text) <= most {
		return text
	}
	end := most - len("…")
	for end > 0 && text[end]&0xC0 == 0x80 {
		end--
	}
	return text[:end] + "…"
}

// some joins what was found, at most three of them.
func some(list []string) string {
	const shown = 3
	if len(list) > shown {
		return strings.Join(list[:shown], "; ") + "; and " + decimal(int64(len(list)-shown)) + " more"
	}
	return strings.Join(list, "; ")
}
