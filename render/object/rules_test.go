// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package object

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kjson "sigs.k8s.io/json"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
)

// everyCase runs a check over what each case renders.
func everyCase(t *testing.T, check func(*testing.T, *v1alpha1.ValkeyCluster, []*unstructured.Unstructured)) {
	t.Helper()
	for _, dir := range caseDirs(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			c, acls := readCase(t, dir)
			check(t, c, compose(t, c, acls))
		})
	}
}

// strictly decodes an object into the type of its kind, or fails: an unknown or
// misspelt field, or one in another case, is an error.
func strictly(t *testing.T, o *unstructured.Unstructured) any {
	t.Helper()
	kinds := map[string]any{
		"v1 ConfigMap":                             &corev1.ConfigMap{},
		"v1 Service":                               &corev1.Service{},
		"v1 PersistentVolumeClaim":                 &corev1.PersistentVolumeClaim{},
		"apps/v1 StatefulSet":                      &appsv1.StatefulSet{},
		"policy/v1 PodDisruptionBudget":            &policyv1.PodDisruptionBudget{},
		"networking.k8s.io/v1 NetworkPolicy":       &networkingv1.NetworkPolicy{},
		"valkey-render.dev/v1alpha1 ValkeyCluster": &v1alpha1.ValkeyCluster{},
		"valkey-render.dev/v1alpha1 ValkeyACL":     &v1alpha1.ValkeyACL{},
		"cert-manager.io/v1 Certificate":           nil,
		"monitoring.coreos.com/v1 PodMonitor":      nil,
		"monitoring.coreos.com/v1 PrometheusRule":  nil,
	}
	into, known := kinds[o.GetAPIVersion()+" "+o.GetKind()]
	if !known {
		t.Fatalf("unexpected kind %s %s", o.GetAPIVersion(), o.GetKind())
	}
	if into == nil {
		return nil
	}
	data, err := json.Marshal(o.Object)
	if err != nil {
		t.Fatal(err)
	}
	strict, err := kjson.UnmarshalStrict(data, into)
	if err != nil || len(strict) > 0 {
		t.Errorf("%s/%s: %v %v", o.GetKind(), o.GetName(), err, strict)
	}
	return into
}

func TestObjectsDecodeStrictly(t *testing.T) {
	everyCase(t, func(t *testing.T, c *v1alpha1.ValkeyCluster, objects []*unstructured.Unstructured) {
		seen := map[string]bool{}
		for _, o := range objects {
			strictly(t, o)
			key := o.GetKind() + "/" + o.GetName()
			if seen[key] {
				t.Errorf("%s is there twice", key)
			}
			seen[key] = true
			if o.GetNamespace() != c.Namespace {
				t.Errorf("%s is in namespace %q", key, o.GetNamespace())
			}
			for k, v := range name.Labels(c.Name, o.GetLabels()[name.LabelComponent]) {
				if o.GetLabels()[k] != v {
					t.Errorf("%s: label %s is %q, want %q", key, k, o.GetLabels()[k], v)
				}
			}
			if o.GetKind() == "Secret" || o.GetKind() == "ServiceAccount" {
				t.Errorf("%s must not be rendered", key)
			}
		}
	})
}

// statefulSets are the StatefulSets of a case, typed.
func statefulSets(t *testing.T, objects []*unstructured.Unstructured) []*appsv1.StatefulSet {
	t.Helper()
	var out []*appsv1.StatefulSet
	for _, o := range objects {
		if o.GetKind() == "StatefulSet" {
			out = append(out, strictly(t, o).(*appsv1.StatefulSet))
		}
	}
	return out
}

// TestValuesAreCanonical: what the server would write differently is a difference
// at every apply.
func TestValuesAreCanonical(t *testing.T) {
	quantities := map[string]bool{"cpu": true, "memory": true, "storage": true, "sizeLimit": true, "size": true, "initialSize": true}
	everyCase(t, func(t *testing.T, _ *v1alpha1.ValkeyCluster, objects []*unstructured.Unstructured) {
		for _, o := range objects {
			walk(o.Object, "", func(path, key string, value any) {
				at := o.GetKind() + "/" + o.GetName() + path
				switch v := value.(type) {
				case nil:
					t.Errorf("%s is null", at)
				case []any:
					if len(v) == 0 {
						t.Errorf("%s is an empty list", at)
					}
				case map[string]any:
					empty := key == "emptyDir" || strings.HasSuffix(key, "Selector")
					if len(v) == 0 && !empty {
						t.Errorf("%s is empty", at)
					}
				case string:
					if !quantities[key] {
						return
					}
					if q, err := resource.ParseQuantity(v); err != nil || q.String() != v {
						t.Errorf("%s is %q, the server writes %q (%v)", at, v, q.String(), err)
					}
				}
				// In a template of claims the server's default is written, see claimTemplate.
				status := key == "status" && !strings.HasSuffix(at, ".spec.volumeClaimTemplates[].status")
				if status || key == "creationTimestamp" {
					t.Errorf("%s is the server's", at)
				}
			})
		}
	})
}

func walk(value any, path string, visit func(path, key string, value any)) {
	switch v := value.(type) {
	case map[string]any:
		for key, item := range v {
			visit(path+"."+key, key, item)
			walk(item, path+"."+key, visit)
		}
	case []any:
		for _, item := range v {
			walk(item, path+"[]", visit)
		}
	}
}
