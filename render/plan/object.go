// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/finding"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/render/order"
)

// live are the directives that servers are told while they run.
func (c *cluster) live(taken set) []Effect {
	var out []Effect
	for _, p := range c.of("ConfigMap") {
		if p.name() != name.Live(c.name) || !p.changed() || reflect.DeepEqual(field(p.before, "data"), field(p.after, "data")) {
			continue
		}
		taken.add(p)
		told, read := c.liveDirectives(p)
		if len(told) > 0 {
			out = append(out, c.effect(Live, few(told)+": no pod restarts; "+c.toldLive(), p))
		}
		if len(read) > 0 {
			out = append(out, c.effect(Live, few(read)+": read by the scripts in the pods; no pod restarts", p))
		}
	}
	return out
}

// liveDirectives are those that differ in the text of the cluster's version, or,
// where that is not known or the same, in any; and the other keys that differ.
func (c *cluster) liveDirectives(p pair) (told, read []string) {
	before, _ := field(p.before, "data").(map[string]any)
	after, _ := field(p.after, "data").(map[string]any)
	all := map[string]bool{}
	for _, key := range differingKeys(before, after) {
		if !strings.HasSuffix(key, ".conf") {
			read = append(read, key)
			continue
		}
		names := directives(before[key], after[key])
		if c.now != nil && key == c.now.ServerVersion()+".conf" && len(names) > 0 {
			return names, read
		}
		for _, n := range names {
			all[n] = true
		}
	}
	return slices.Sorted(maps.Keys(all)), read
}

// directives are the names of those that differ between two texts.
func directives(before, after any) []string {
	read := func(text any) map[string]string {
		out := map[string]string{}
		s, _ := text.(string)
		for line := range strings.Lines(s) {
			line = strings.TrimSpace(line)
			if line == "" || line[0] == '#' {
				continue
			}
			directive, rest, _ := strings.Cut(line, " ")
			if directive == "sentinel" {
				option, _, _ := strings.Cut(rest, " ")
				directive += " " + option
			}
			out[directive] += line + "\n"
		}
		return out
	}
	return differingKeys(read(before), read(after))
}

// immutable are changes of objects that the API server refuses. Those that a
// refusal of the spec tells already are left out.
func (c *cluster) immutable(refused []Effect, taken set) []Effect {
	tell := func(prefix string, p pair) bool {
		i := slices.IndexFunc(refused, func(e Effect) bool { return strings.HasPrefix(e.Path, prefix) })
		if i >= 0 {
			refused[i].Objects = append(refused[i].Objects, ID(p.either()))
		}
		return i >= 0
	}
	byField := map[string][]pair{}
	for _, p := range c.pairs {
		if !p.changed() {
			continue
		}
		for _, path := range frozen(p) {
			covered := p.kind() == kindClaim || path == "spec.volumeClaimTemplates"
			taken.add(p)
			if covered && tell("spec.storage", p) || p.kind() == "Service" && tell("spec.networking.ipFamily", p) {
				continue
			}
			key := p.kind() + " " + path
			byField[key] = append(byField[key], p)
		}
	}
	var out []Effect
	for _, key := range slices.Sorted(maps.Keys(byField)) {
		kind, path, _ := strings.Cut(key, " ")
		message := fmt.Sprintf("of %s: the API server does not allow the change", named(kind, byField[key]))
		e := c.effect(Refused, message, byField[key]...)
		e.Path, e.Code = path, finding.ChangeRefused
		out = append(out, e)
	}
	return out
}

// frozen are the fields that differ and that the API server lets nobody change.
func frozen(p pair) []string {
	var out []string
	differ := func(path ...string) bool {
		return !reflect.DeepEqual(field(p.before, path...), field(p.after, path...))
	}
	switch p.kind() {
	case kindStatefulSet:
		for _, f := range []string{"selector", "serviceName", "podManagementPolicy", "volumeClaimTemplates"} {
			if differ("spec", f) {
				out = append(out, "spec."+f)
			}
		}
	case kindClaim:
		for _, f := range []string{"accessModes", "storageClassName", "volumeMode", "volumeName", "selector"} {
			if differ("spec", f) {
				out = append(out, "spec."+f)
			}
		}
		now, was := size(p.after), size(p.before)
		if now.Cmp(was) < 0 {
			out = append(out, "spec.resources.requests.storage")
		}
	case "Service":
		if differ("spec", "clusterIP") {
			out = append(out, "spec.clusterIP")
		}
		was, is := field(p.before, "spec", "ipFamilies"), field(p.after, "spec", "ipFamilies")
		if was != nil && is != nil && !reflect.DeepEqual(was, is) {
			out = append(out, "spec.ipFamilies")
		}
	}
	return out
}

// others are the effects on everything that no other effect is about.
func (c *cluster) others(taken set) []Effect {
	groups := map[Action]map[string][]pair{}
	for _, p := range c.pairs {
		if taken.has(p) || p.kind() == v1alpha1.KindCluster && !(p.changed() && p.sameContent()) {
			continue
		}
		action := Updates
		switch {
		case p.added():
			action = Creates
		case p.gone():
			action = Deletes
		case p.sameContent():
			action = Metadata
		}
		if groups[action] == nil {
			groups[action] = map[string][]pair{}
		}
		groups[action][p.kind()] = append(groups[action][p.kind()], p)
	}
	var out []Effect
	for _, action := range actions() {
		for _, kind := range slices.Sorted(maps.Keys(groups[action])) {
			pairs := groups[action][kind]
			out = append(out, c.effect(action, named(kind, pairs)+c.remark(action, kind, pairs), pairs...))
		}
	}
	return out
}

// remark says more about a kind.
func (c *cluster) remark(action Action, kind string, pairs []pair) string {
	switch {
	case action == Updates && kind == kindStatefulSet:
		return ": no pod is replaced"
	case action == Updates && kind == "ConfigMap" && slices.ContainsFunc(pairs, func(p pair) bool { return p.name() == name.Scripts(c.name) }):
		return ": read by the next probe, and when a container starts or stops; no pod is replaced"
	case action == Creates && kind == "Job":
		return ": runs once, when it is applied"
	case action == Deletes && kind == kindClaim:
		return ": kept by Argo CD, Flux and Helm, as their annotations ask"
	}
	return ""
}

// size is what a claim asks for.
func size(o *unstructured.Unstructured) resource.Quantity {
	text, _ := field(o, "spec", "resources", "requests", "storage").(string)
	q, err := resource.ParseQuantity(text)
	if err != nil {
		return resource.Quantity{}
	}
	return q
}

// field is a value at a path, nil where there is none.
func field(o *unstructured.Unstructured, path ...string) any {
	value, _, err := unstructured.NestedFieldNoCopy(o.Object, path...)
	if err != nil {
		return nil
	}
	return value
}

// named is a kind with the names of objects, which are of one cluster.
func named(kind string, pairs []pair) string {
	var names []string
	for _, p := range pairs {
		names = append(names, p.name())
	}
	slices.SortFunc(names, order.Natural)
	return kind + " " + few(names)
}
