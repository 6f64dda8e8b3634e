// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/valkey-render/valkey-render/render/finding"
	"github.com/valkey-render/valkey-render/render/name"
)

const (
	kindStatefulSet = "StatefulSet"
	kindClaim       = "PersistentVolumeClaim"
)

// set are the objects whose difference has an effect already.
type set map[string]bool

func (s set) add(pairs ...pair) {
	for _, p := range pairs {
		s[ID(p.either())] = true
	}
}

func (s set) has(p pair) bool { return s[ID(p.either())] }

// replicas of a StatefulSet; 1 where it says nothing, as the API server has it.
func replicas(o *unstructured.Unstructured) int {
	n, found, err := unstructured.NestedInt64(o.Object, "spec", "replicas")
	if !found || err != nil {
		return 1
	}
	return int(n)
}

// alike are StatefulSets to which the same happens.
type alike struct {
	effect Effect
	shards []int32
	names  []string
	pairs  []pair
}

// gather joins StatefulSets by a key that says what happens to them.
type gather struct {
	order []string
	byKey map[string]*alike
}

func (g *gather) add(key string, p pair, pods int) *alike {
	if g.byKey == nil {
		g.byKey = map[string]*alike{}
	}
	a := g.byKey[key]
	if a == nil {
		a = &alike{}
		g.byKey[key] = a
		g.order = append(g.order, key)
	}
	a.effect.Pods += pods
	a.pairs = append(a.pairs, p)
	if shard, ok := p.shard(); ok {
		a.shards = append(a.shards, shard)
	}
	a.names = append(a.names, p.name())
	return a
}

// where names the pods: those of shards, or of a StatefulSet.
func (a *alike) where() string {
	if len(a.shards) == len(a.names) {
		return shards(a.shards)
	}
	return strings.Join(a.names, ", ")
}

// workloads are the effects on pods, and the objects that belong to them.
func (c *cluster) workloads() ([]Effect, set) {
	taken := set{}
	var rolls, scales, comes, goes gather
	for _, p := range c.of(kindStatefulSet) {
		switch {
		case p.added():
			comes.add("", p, replicas(p.after))
		case p.gone():
			goes.add("", p, replicas(p.before))
		default:
			roll(&rolls, p)
			was, is := replicas(p.before), replicas(p.after)
			if was != is {
				scales.add(fmt.Sprintf("%v %d %d", p.sentinel(), was, is), p, max(was-is, is-was))
			}
		}
	}
	var out []Effect
	emit := func(g gather, effectOf func(a *alike) Effect) {
		for _, key := range g.order {
			a := g.byKey[key]
			slices.Sort(a.shards)
			e := effectOf(a)
			e.Shards, e.Pods, e.By = a.shards, a.effect.Pods, a.effect.By
			out = append(out, e)
			taken.add(a.pairs...)
		}
	}
	emit(rolls, c.rolled)
	emit(scales, func(a *alike) Effect { return c.scaled(a, taken) })
	emit(comes, func(a *alike) Effect { return c.newShards(a, taken) })
	emit(goes, func(a *alike) Effect { return c.lostShards(a, taken) })
	return out, taken
}

func (p pair) sentinel() bool {
	return p.either().GetLabels()[name.LabelComponent] == name.ComponentSentinel
}

// roll notes that the pods of a StatefulSet are replaced.
func roll(rolls *gather, p pair) {
	before, after := field(p.before, "spec", "template"), field(p.after, "spec", "template")
	if reflect.DeepEqual(before, after) {
		return
	}
	pods := min(replicas(p.before), replicas(p.after))
	by := ByReconciler
	if field(p.after, "spec", "updateStrategy", "type") != "OnDelete" {
		by = ByController
	}
	why := strings.Join(reasons(before, after), ", ")
	a := rolls.add(fmt.Sprintf("%v %s %v %s", p.sentinel(), by, pods == 0, why), p, pods)
	a.effect.By, a.effect.Message = by, why
}

func (c *cluster) rolled(a *alike) Effect {
	if a.effect.Pods == 0 {
		return c.effect(Updates, fmt.Sprintf("the pod template of %s, for when pods start again: %s", a.where(), a.effect.Message), a.pairs...)
	}
	how := "one at a time in each shard, all shards at once (rollout.mode StatefulSet)"
	switch {
	case a.effect.By == ByReconciler:
		how = c.inOrder(a.effect.Pods, replicas(a.pairs[0].after))
	case a.pairs[0].sentinel():
		how = "one at a time"
	}
	return c.effect(Rolls, fmt.Sprintf("%s of %s, for %s; %s", count(a.effect.Pods, "pod"), a.where(), a.effect.Message, how), a.pairs...)
}

// scaled is the effect of another number of pods.
func (c *cluster) scaled(a *alike, taken set) Effect {
	was, is := replicas(a.pairs[0].before), replicas(a.pairs[0].after)
	switch {
	case is == 0:
		return c.effect(Scales, fmt.Sprintf("stops all %s of %s; claims stay", count(a.effect.Pods, "pod"), a.where()), a.pairs...)
	case was == 0:
		return c.effect(Scales, fmt.Sprintf("starts %s of %s", count(a.effect.Pods, "pod"), a.where()), a.pairs...)
	}
	claims := c.claimsOf(a, is > was)
	taken.add(claims...)
	each := fmt.Sprintf("from %d to %d", was, is)
	if len(a.pairs) > 1 {
		each += " each"
	}
	if is > was {
		message := fmt.Sprintf("%s to %s, %s%s; no pod that runs is replaced", count(a.effect.Pods, "pod"), a.where(), each, and(claims))
		if !a.pairs[0].sentinel() {
			message += c.joined()
		}
		return c.effect(Adds, message, append(a.pairs, claims...)...)
	}
	message := fmt.Sprintf("%s of %s, %s, the last first", count(a.effect.Pods, "pod"), a.where(), each)
	if len(claims) > 0 {
		message += "; their claims are kept"
	}
	return c.effect(Removes, message, append(a.pairs, claims...)...)
}

// claimsOf are the claims that come, or go, with the StatefulSets.
func (c *cluster) claimsOf(a *alike, come bool) []pair {
	var out []pair
	for _, p := range c.of(kindClaim) {
		if shard, ok := p.shard(); ok && slices.Contains(a.shards, shard) && (come && p.added() || !come && p.gone()) {
			out = append(out, p)
		}
	}
	return out
}

// partsOf is everything that comes, or goes, with whole shards.
func (c *cluster) partsOf(a *alike, come bool) []pair {
	var out []pair
	for _, p := range c.pairs {
		if shard, ok := p.shard(); ok && slices.Contains(a.shards, shard) && (come && p.added() || !come && p.gone()) {
			out = append(out, p)
		}
	}
	return out
}

func (c *cluster) newShards(a *alike, taken set) Effect {
	parts := c.partsOf(a, true)
	if len(parts) == 0 {
		parts = a.pairs
	}
	taken.add(parts...)
	message := fmt.Sprintf("%s with %s", a.where(), count(a.effect.Pods, "pod"))
	if len(a.shards) > 0 {
		message += c.filled(len(a.shards))
	}
	return c.effect(Adds, message, parts...)
}

// lostShards must not be applied unless the reconciler drains them first: whoever prunes
// deletes the pods of a shard that still has data.
func (c *cluster) lostShards(a *alike, taken set) Effect {
	parts := c.partsOf(a, false)
	if len(parts) == 0 {
		parts = a.pairs
	}
	taken.add(parts...)
	message := fmt.Sprintf("%s with %s", a.where(), count(a.effect.Pods, "pod"))
	e := c.effect(Removes, message, parts...)
	if len(a.shards) == 0 {
		return e
	}
	why := c.kept(a.shards)
	if why == "" {
		e.Message += ", once the reconciler has moved " + their(len(a.shards)) + " slots away" + c.paused() + "; the guard holds pruning until then"
		return e
	}
	e.Message += "; " + why
	e.Code = finding.ShardRemoved
	if c.now != nil {
		e.Path = "spec.shards"
	}
	return e
}

// claims are the effects on disks.
func (c *cluster) claims(taken set) []Effect {
	type step struct{ from, to string }
	grown := map[step][]pair{}
	var steps []step
	for _, p := range c.of(kindClaim) {
		if !p.changed() || taken.has(p) {
			continue
		}
		from, to := size(p.before), size(p.after)
		if to.Cmp(from) <= 0 {
			continue
		}
		s := step{from.String(), to.String()}
		if grown[s] == nil {
			steps = append(steps, s)
		}
		grown[s] = append(grown[s], p)
	}
	var out []Effect
	for _, s := range steps {
		taken.add(grown[s]...)
		out = append(out, c.effect(Grows, fmt.Sprintf("%s from %s to %s, while pods run; the StorageClass has to allow expansion",
			count(len(grown[s]), "disk"), s.from, s.to), grown[s]...))
	}
	return out
}

// and names claims beside the pods that they are for.
func and(claims []pair) string {
	if len(claims) == 0 {
		return ""
	}
	return " with " + count(len(claims), "claim")
}
