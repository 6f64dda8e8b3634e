// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/valkey-render/valkey-render/render/finding"
	"github.com/valkey-render/valkey-render/render/order"
)

// Action is the kind of an effect.
type Action string

// The actions, in the order in which the effects on a cluster are listed.
const (
	// Refused can never be applied to a cluster that runs.
	Refused Action = "refused"
	// Removes takes shards or replicas away.
	Removes Action = "removes"
	// Deletes takes a whole cluster, or other objects, away.
	Deletes Action = "deletes"
	// Rolls replaces pods: their template changed.
	Rolls Action = "rolls"
	// Scales stops all pods of a hibernating cluster, or starts them again.
	Scales Action = "scales"
	// Adds makes new shards or replicas.
	Adds Action = "adds"
	// Grows makes disks larger.
	Grows Action = "grows"
	// Live changes directives of servers that run.
	Live Action = "live"
	// Users changes who may log in and do what.
	Users Action = "users"
	// Settings changes what only the reconciler reads.
	Settings Action = "settings"
	// Creates makes a whole cluster, or other objects.
	Creates Action = "creates"
	// Updates changes objects in place; no pod is replaced.
	Updates Action = "updates"
	// Metadata changes labels and annotations and nothing else.
	Metadata Action = "metadata"
)

func actions() []Action {
	return []Action{Refused, Removes, Deletes, Rolls, Scales, Adds, Grows, Live, Users, Settings, Creates, Updates, Metadata}
}

// Who replaces pods.
const (
	// ByController is the StatefulSet controller, by itself.
	ByController = "StatefulSet controller"
	// ByReconciler is the reconciler, in order and with a handover.
	ByReconciler = "reconciler"
)

// Effect is one thing that a change does to one cluster.
type Effect struct {
	Action Action `json:"action"`
	// Cluster is namespace/name, or the name without a namespace; empty for
	// objects that belong to no cluster.
	Cluster string `json:"cluster,omitempty"`
	// Code is VR0604 or VR0605 for what must not be applied, else empty.
	Code finding.Code `json:"code,omitempty"`
	// Path is the field that a refusal is about: of the ValkeyCluster, or of
	// Objects when those are others.
	Path string `json:"path,omitempty"`
	// Message says in one line what happens.
	Message string `json:"message"`
	// Shards are the indexes of the shards it happens to.
	Shards []int32 `json:"shards,omitempty"`
	// Pods counts the pods that are replaced, started or stopped.
	Pods int `json:"pods,omitempty"`
	// By is who replaces pods: ByController or ByReconciler.
	By string `json:"by,omitempty"`
	// Objects are the objects whose difference it is, as Kind/namespace/name.
	Objects []string `json:"objects,omitempty"`
}

// String is one line: shop/cache: rolls: 6 pods of shards 0-2 …
func (e Effect) String() string {
	text := string(e.Action) + ": " + e.Message
	if e.Path != "" {
		text = string(e.Action) + ": " + e.Path + ": " + e.Message
	}
	if e.Cluster != "" {
		text = e.Cluster + ": " + text
	}
	return strings.Join(strings.Fields(text), " ")
}

// Blocked reports whether the change must not be applied to a cluster that runs.
func (e Effect) Blocked() bool { return e.Code != "" }

// Plan is what a change does, by cluster, the gravest first.
type Plan struct {
	Effects []Effect `json:"effects"`
}

// Compare returns what it does to go from one rendering to the other. Objects that
// are equal may be left out of both, except for the ValkeyClusters. The hash that
// every object carries is not a difference. Nothing is changed.
func Compare(before, after []*unstructured.Unstructured) Plan {
	p := Plan{Effects: []Effect{}}
	for _, g := range group(before, after) {
		p.Effects = append(p.Effects, g.effects()...)
	}
	rank := map[Action]int{}
	for i, action := range actions() {
		rank[action] = i
	}
	slices.SortStableFunc(p.Effects, func(a, b Effect) int {
		return cmp.Or(order.Natural(a.Cluster, b.Cluster), cmp.Compare(rank[a.Action], rank[b.Action]),
			order.Natural(a.Path, b.Path), order.Natural(a.Message, b.Message))
	})
	return p
}

// Blocked are the effects that must not be applied to a cluster that runs.
func (p Plan) Blocked() []Effect {
	var out []Effect
	for _, e := range p.Effects {
		if e.Blocked() {
			out = append(out, e)
		}
	}
	return out
}

// On are the effects that the difference of an object has; the object is
// Kind/namespace/name, or Kind/name without a namespace.
func (p Plan) On(object string) []Effect {
	var out []Effect
	for _, e := range p.Effects {
		if slices.Contains(e.Objects, object) {
			out = append(out, e)
		}
	}
	return out
}

// Text is one line for each effect.
func (p Plan) Text() []byte {
	var b bytes.Buffer
	for _, e := range p.Effects {
		b.WriteString(e.String() + "\n")
	}
	return b.Bytes()
}

// JSON is {"effects": [...]}, indented, with a final newline.
func (p Plan) JSON() ([]byte, error) {
	data, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("plan: encoding failed: %w", err)
	}
	return append(data, '\n'), nil
}
