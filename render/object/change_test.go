// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package object

import (
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
)

// TestOneChangeTouchesOnlyWhatItMust says for changes of a spec which objects
// differ afterwards. No change may ever reach a field of a StatefulSet that is
// immutable.
func TestOneChangeTouchesOnlyWhatItMust(t *testing.T) {
	var table struct {
		Specs   map[string]map[string]any
		Changes []struct {
			Name, From string
			Change     map[string]any
			Touches    []string
		}
	}
	decode(t, "testdata/changes.yaml", &table)
	for _, c := range table.Changes {
		t.Run(c.Name, func(t *testing.T) {
			before, after := composeSpec(t, table.Specs[c.From]), composeSpec(t, table.Specs[c.From], c.Change)
			if diff := cmp.Diff(c.Touches, differences(t, before, after)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// composeSpec renders a spec with changes laid over its top-level fields.
func composeSpec(t testing.TB, specs ...map[string]any) []*unstructured.Unstructured {
	t.Helper()
	fields := map[string]any{}
	for _, spec := range specs {
		// A field that is named again is replaced, not merged.
		maps.Copy(fields, spec)
	}
	data, err := yaml.Marshal(map[string]any{"spec": fields})
	if err != nil {
		t.Fatal(err)
	}
	c := &v1alpha1.ValkeyCluster{}
	c.Name, c.Namespace = "orders", "shop"
	if err := yaml.UnmarshalStrict(data, c); err != nil {
		t.Fatal(err)
	}
	c.Default()
	if errs := c.Validate(); len(errs) > 0 {
		t.Fatal(errs.ToAggregate())
	}
	return compose(t, c, nil)
}

func differences(t *testing.T, before, after []*unstructured.Unstructured) []string {
	t.Helper()
	old := map[string]*unstructured.Unstructured{}
	for _, o := range before {
		old[o.GetKind()+"/"+o.GetName()] = o
	}
	var out []string
	for _, o := range after {
		key := o.GetKind() + "/" + o.GetName()
		was, there := old[key]
		delete(old, key)
		switch {
		case !there:
			out = append(out, "+ "+key)
		case reflect.DeepEqual(was.Object, o.Object) || o.GetKind() == v1alpha1.KindCluster:
		case !reflect.DeepEqual(dig(was.Object, "spec.template"), dig(o.Object, "spec.template")):
			out = append(out, "! "+key)
		default:
			out = append(out, "~ "+key)
		}
		if there && o.GetKind() == "StatefulSet" {
			for _, path := range []string{"spec.selector", "spec.serviceName", "spec.podManagementPolicy", "spec.volumeClaimTemplates"} {
				if diff := cmp.Diff(dig(was.Object, path), dig(o.Object, path)); diff != "" {
					t.Errorf("%s: immutable field %s (-before +after):\n%s", key, path, diff)
				}
			}
		}
	}
	for key := range old {
		out = append(out, "- "+key)
	}
	// By name rather than by sign.
	slices.SortFunc(out, func(a, b string) int { return slices.Compare([]byte(a[2:]), []byte(b[2:])) })
	return out
}

func TestAnEditOfMetadataReachesNothingElse(t *testing.T) {
	before, _ := readCase(t, casesDir+"/metadata-of-the-input")
	after := before.DeepCopy()
	after.Labels = map[string]string{"other": "label"}
	after.Annotations = map[string]string{"valkey-render.dev/restart": "tuesday"}
	got := differences(t, compose(t, before, nil), compose(t, after, nil))
	if got != nil {
		t.Errorf("changed: %v", got)
	}
}
