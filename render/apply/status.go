// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"cmp"
	"fmt"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
)

// State says how far an object is from what was asked for.
type State string

const (
	// Ready: it is what was asked for.
	Ready State = "ready"
	// Waiting: it may become so by itself.
	Waiting State = "waiting"
	// Stuck: it will not become so by itself.
	Stuck State = "failed"
	// Unwatched: nothing is running that would make it so.
	Unwatched State = "unwatched"
)

// Status is the state of one object.
type Status struct {
	ID
	State State `json:"state"`
	// Message says what is missing.
	Message string `json:"message,omitempty"`
}

// StatusOf reads the state from an object as it is live.
//
// kstatus is right for most kinds and not asked for some: it takes a StatefulSet
// with strategy OnDelete for done whatever its pods run, a Job for done once it
// has started, a budget always, and an object that is judged by its conditions
// for done while it has none.
func StatusOf(live *unstructured.Unstructured) Status {
	s := Status{ID: idOf(live)}
	if live.GetDeletionTimestamp() != nil {
		s.State, s.Message = Waiting, "is being deleted"
		return s
	}
	if observed, found := number(live, "status", "observedGeneration"); found && observed < live.GetGeneration() {
		s.State, s.Message = Waiting, "its controller has not seen the last change yet"
		return s
	}
	switch live.GetKind() {
	case "StatefulSet":
		s.State, s.Message = statefulSetState(live)
	case "Job":
		s.State, s.Message = jobState(live)
	case "PersistentVolumeClaim":
		s.State, s.Message = claimState(live)
	case "PodDisruptionBudget":
		s.State, s.Message = budgetState(live)
	case v1alpha1.KindCluster, v1alpha1.KindACL, "Certificate":
		s.State, s.Message = conditionState(live)
	default:
		s.State, s.Message = genericState(live)
	}
	return s
}

func number(o *unstructured.Unstructured, path ...string) (int64, bool) {
	n, found, err := unstructured.NestedInt64(o.Object, path...)
	return n, found && err == nil
}

// statefulSetState wants every pod ready and of the newest template, whoever is to
// replace the others.
func statefulSetState(o *unstructured.Unstructured) (State, string) {
	want, found := number(o, "spec", "replicas")
	if !found {
		want = 1
	}
	if _, observed := number(o, "status", "observedGeneration"); !observed {
		return Waiting, "its controller has not seen it yet"
	}
	exist, _ := number(o, "status", "replicas")
	ready, _ := number(o, "status", "readyReplicas")
	updated, _ := number(o, "status", "updatedReplicas")
	strategy, _, _ := unstructured.NestedString(o.Object, "spec", "updateStrategy", "type")
	partition, _ := number(o, "spec", "updateStrategy", "rollingUpdate", "partition")
	toUpdate := max(want-partition, 0)
	switch {
	case exist > want:
		return Waiting, fmt.Sprintf("%d of %d pods are to stop", exist-want, exist)
	case ready < want:
		return Waiting, fmt.Sprintf("%d of %d pods are ready", ready, want)
	case updated < toUpdate && strategy == "OnDelete":
		return Waiting, fmt.Sprintf("%d of %d pods run the new template: the reconciler rolls them", updated, want)
	case updated < toUpdate:
		return Waiting, fmt.Sprintf("%d of %d pods run the new template", updated, want)
	}
	return Ready, ""
}

func jobState(o *unstructured.Unstructured) (State, string) {
	if c := condition(o, "Complete"); c.status == "True" {
		return Ready, ""
	}
	if c := condition(o, "Failed"); c.status == "True" {
		return Stuck, c.text()
	}
	return Waiting, "has not completed"
}

func claimState(o *unstructured.Unstructured) (State, string) {
	phase, _, _ := unstructured.NestedString(o.Object, "status", "phase")
	switch phase {
	case "Bound":
	case "Lost":
		return Stuck, "its volume is gone"
	default:
		return Waiting, "is not bound"
	}
	asked, okAsked := quantityAt(o, requestPath()...)
	has, okHas := quantityAt(o, "status", "capacity", "storage")
	if okAsked && okHas && has.Cmp(asked) < 0 {
		return Waiting, resizing(o, has, asked)
	}
	return Ready, ""
}

// resizing says how far the growth of a volume is, in the words of whoever does it.
func resizing(o *unstructured.Unstructured, has, asked resource.Quantity) string {
	text := fmt.Sprintf("grows from %s to %s", has.String(), asked.String())
	for _, kind := range []string{"ControllerResizeError", "NodeResizeError", "FileSystemResizePending", "Resizing"} {
		if c := condition(o, kind); c.status == "True" {
			return text + ": " + cmp.Or(c.text(), kind)
		}
	}
	return text
}

func budgetState(o *unstructured.Unstructured) (State, string) {
	if _, observed := number(o, "status", "observedGeneration"); !observed {
		return Waiting, "its controller has not seen it yet"
	}
	return Ready, ""
}

// conditionState is for kinds that say Ready or not: silence is not Ready.
func conditionState(o *unstructured.Unstructured) (State, string) {
	if c := condition(o, v1alpha1.ConditionStalled); c.status == "True" {
		return Stuck, c.text()
	}
	switch c := condition(o, v1alpha1.ConditionReady); c.status {
	case "True":
		if c.generation != 0 && c.generation < o.GetGeneration() {
			return Waiting, "its controller has not seen the last change yet"
		}
		return Ready, ""
	case "":
		return Waiting, "its controller has not seen it yet"
	default:
		return Waiting, c.text()
	}
}

func genericState(o *unstructured.Unstructured) (State, string) {
	result, err := status.Compute(o)
	if err != nil {
		return Waiting, err.Error()
	}
	switch result.Status {
	case status.CurrentStatus:
		return Ready, ""
	case status.FailedStatus:
		return Stuck, result.Message
	}
	return Waiting, result.Message
}

type conditionFields struct {
	status, reason, message string
	generation              int64
}

func (c conditionFields) text() string {
	switch {
	case c.message == "":
		return c.reason
	case c.reason == "":
		return c.message
	}
	return c.reason + ": " + c.message
}

func condition(o *unstructured.Unstructured, kind string) conditionFields {
	all, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, item := range all {
		c, ok := item.(map[string]any)
		if !ok || c["type"] != kind {
			continue
		}
		text := func(key string) string { s, _ := c[key].(string); return s }
		generation, _ := c["observedGeneration"].(int64)
		return conditionFields{text("status"), text("reason"), text("message"), generation}
	}
	return conditionFields{}
}
