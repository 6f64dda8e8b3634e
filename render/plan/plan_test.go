// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/valkey-render/valkey-render/internal/golden"
	"github.com/valkey-render/valkey-render/render"
	"github.com/valkey-render/valkey-render/render/finding"
	"github.com/valkey-render/valkey-render/render/load"
	"github.com/valkey-render/valkey-render/render/plan"
)

// change is one of a table: from a spec, with fields laid over it.
type change struct {
	Name, From, To string
	Change         map[string]any
	Touches        []string
	Gone           bool
}

type table struct {
	Specs   map[string]map[string]any
	Changes []change
}

func read(t *testing.T, file string) table {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out table
	if err := yaml.UnmarshalStrict(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// tables are the changes of render/object and those of this package.
func tables(t *testing.T) table {
	t.Helper()
	all, more := read(t, "../object/testdata/changes.yaml"), read(t, "testdata/changes.yaml")
	maps.Copy(all.Specs, more.Specs)
	all.Changes = append(all.Changes, more.Changes...)
	return all
}

// sides renders a change before and after.
func (tab table) sides(t *testing.T, c change) (before, after []*unstructured.Unstructured) {
	t.Helper()
	if c.From != "" {
		before = rendered(t, tab.Specs[c.From])
	}
	if c.To != "" {
		return before, rendered(t, tab.Specs[c.To])
	}
	if c.Gone {
		return before, nil
	}
	return before, rendered(t, tab.Specs[c.From], c.Change)
}

func rendered(t *testing.T, specs ...map[string]any) []*unstructured.Unstructured {
	t.Helper()
	fields := map[string]any{}
	for _, spec := range specs {
		maps.Copy(fields, spec)
	}
	maps.DeleteFunc(fields, func(_ string, v any) bool { return v == nil })
	data, err := yaml.Marshal(map[string]any{
		"apiVersion": "valkey-render.dev/v1alpha1", "kind": "ValkeyCluster",
		"metadata": map[string]any{"name": "orders", "namespace": "shop"}, "spec": fields,
	})
	if err != nil {
		t.Fatal(err)
	}
	set, findings := load.Parse([]load.Source{{Name: "orders.yaml", Data: data}}, load.Options{})
	result := render.Build(set, render.Options{})
	if err := append(findings, result.Findings...).Err(); err != nil {
		t.Fatal(err)
	}
	return result.Objects
}

// TestEffects pins what is said about each change.
func TestEffects(t *testing.T) {
	all := tables(t)
	var out bytes.Buffer
	for _, c := range all.Changes {
		p := plan.Compare(all.sides(t, c))
		fmt.Fprintf(&out, "# %s\n%s\n", c.Name, p.Text())
	}
	golden.File(t, "testdata/effects.txt", out.Bytes())
}

// TestEffectsAgreeWithWhatIsTouched: every object that a change touches has an
// effect of the kind that its difference is, and no other object has any.
func TestEffectsAgreeWithWhatIsTouched(t *testing.T) {
	all := read(t, "../object/testdata/changes.yaml")
	for _, c := range all.Changes {
		t.Run(c.Name, func(t *testing.T) {
			p := plan.Compare(all.sides(t, c))
			touched := map[string]bool{}
			for _, touch := range c.Touches {
				kind, name, _ := strings.Cut(touch[2:], "/")
				id := kind + "/shop/" + name
				touched[id] = true
				var got []plan.Action
				for _, e := range p.On(id) {
					got = append(got, e.Action)
				}
				if want := expected(touch); !slices.ContainsFunc(got, func(a plan.Action) bool { return slices.Contains(want, a) }) {
					t.Errorf("%s: %v, want one of %v", touch, got, want)
				}
			}
			for _, e := range p.Effects {
				for _, id := range e.Objects {
					if !touched[id] && id != "ValkeyCluster/shop/orders" {
						t.Errorf("%s is not touched, and has: %s", id, e)
					}
				}
			}
		})
	}
}

// expected are the actions that fit a difference.
func expected(touch string) []plan.Action {
	kind, name, _ := strings.Cut(touch[2:], "/")
	switch touch[0] {
	case '!':
		return []plan.Action{plan.Rolls}
	case '+':
		return []plan.Action{plan.Adds, plan.Creates}
	case '-':
		return []plan.Action{plan.Removes, plan.Deletes}
	}
	switch {
	case kind == "PersistentVolumeClaim":
		return []plan.Action{plan.Grows}
	case kind == "ConfigMap" && strings.HasSuffix(name, "-live"):
		return []plan.Action{plan.Live}
	case kind == "StatefulSet":
		return []plan.Action{plan.Adds, plan.Scales, plan.Updates}
	}
	return []plan.Action{plan.Updates}
}

// TestEqualRenderingsHaveNoPlan, whichever the spec and the hash on its objects.
func TestEqualRenderingsHaveNoPlan(t *testing.T) {
	all := tables(t)
	for name, spec := range all.Specs {
		before, after := rendered(t, spec), rendered(t, spec)
		for _, o := range after {
			annotations := o.GetAnnotations()
			annotations["valkey-render.dev/render-hash"] = "other"
			o.SetAnnotations(annotations)
		}
		if diff := cmp.Diff(plan.Plan{Effects: []plan.Effect{}}, plan.Compare(before, after)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestEqualObjectsMayBeLeftOut: a caller need not read what did not change.
func TestEqualObjectsMayBeLeftOut(t *testing.T) {
	all := tables(t)
	for _, c := range all.Changes {
		before, after := all.sides(t, c)
		if c.Gone || c.To != "" {
			continue
		}
		equal := map[string]bool{}
		for _, o := range before {
			for _, other := range after {
				if plan.ID(o) == plan.ID(other) && o.GetKind() != "ValkeyCluster" {
					equal[plan.ID(o)] = cmp.Equal(o.Object, other.Object)
				}
			}
		}
		differ := func(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
			return slices.DeleteFunc(slices.Clone(objects), func(o *unstructured.Unstructured) bool { return equal[plan.ID(o)] })
		}
		if diff := cmp.Diff(plan.Compare(before, after), plan.Compare(differ(before), differ(after))); diff != "" {
			t.Errorf("%s: %s", c.Name, diff)
		}
	}
}

// TestWithoutAValkeyClusterTheObjectsSpeak: a golden of other tools has none.
func TestWithoutAValkeyClusterTheObjectsSpeak(t *testing.T) {
	all := tables(t)
	without := func(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
		return slices.DeleteFunc(slices.Clone(objects), func(o *unstructured.Unstructured) bool { return o.GetKind() == "ValkeyCluster" })
	}
	var out bytes.Buffer
	for _, c := range all.Changes {
		before, after := all.sides(t, c)
		fmt.Fprintf(&out, "# %s\n%s\n", c.Name, plan.Compare(without(before), without(after)).Text())
	}
	golden.File(t, "testdata/without-cluster.txt", out.Bytes())
}

// TestFieldsThatTheAPIServerFreezes were edited by hand, or are another renderer's.
func TestFieldsThatTheAPIServerFreezes(t *testing.T) {
	all := tables(t)
	for _, c := range []struct {
		id, path, want string
		value          any
	}{
		{"StatefulSet/shop/orders-0", "spec.podManagementPolicy", "shop/orders: refused: spec.podManagementPolicy: of StatefulSet orders-0: the API server does not allow the change", "OrderedReady"},
		{"StatefulSet/shop/orders-1", "spec.serviceName", "shop/orders: refused: spec.serviceName: of StatefulSet orders-1: the API server does not allow the change", "other"},
		{"Service/shop/orders", "spec.clusterIP", "shop/orders: refused: spec.clusterIP: of Service orders: the API server does not allow the change", "None"},
		{"PersistentVolumeClaim/shop/data-orders-1-0", "spec.volumeMode", "shop/orders: refused: spec.volumeMode: of PersistentVolumeClaim data-orders-1-0: the API server does not allow the change", "Block"},
	} {
		before, after := rendered(t, all.Specs["durable"]), rendered(t, all.Specs["durable"])
		for _, o := range after {
			if plan.ID(o) == c.id {
				if err := unstructured.SetNestedField(o.Object, c.value, strings.Split(c.path, ".")...); err != nil {
					t.Fatal(err)
				}
			}
		}
		p := plan.Compare(before, after)
		if len(p.Blocked()) != 1 || p.Blocked()[0].String() != c.want || p.Blocked()[0].Code != finding.ChangeRefused {
			t.Errorf("%s", p.Text())
		}
	}
}

// TestAShardThatIsStillCountedMustNotGo: no reconciler drains it, so that whoever prunes
// deletes its data.
func TestAShardThatIsStillCountedMustNotGo(t *testing.T) {
	all := tables(t)
	before := rendered(t, all.Specs["durable"])
	after := slices.DeleteFunc(slices.Clone(before), func(o *unstructured.Unstructured) bool {
		return o.GetKind() == "StatefulSet" && o.GetName() == "orders-1"
	})
	blocked := plan.Compare(before, after).Blocked()
	if len(blocked) != 1 || blocked[0].Code != finding.ShardRemoved || !strings.HasSuffix(blocked[0].Message, "spec.shards still counts it") {
		t.Errorf("%v", blocked)
	}
}

func TestJSON(t *testing.T) {
	all := tables(t)
	i := slices.IndexFunc(all.Changes, func(c change) bool { return c.Name == "one shard less" })
	data, err := plan.Compare(all.sides(t, all.Changes[i])).JSON()
	if err != nil {
		t.Fatal(err)
	}
	golden.File(t, "testdata/one-shard-less.json", data)
	golden.Only(t, "testdata", "changes.yaml", "effects.txt", "one-shard-less.json", "without-cluster.txt")
}
