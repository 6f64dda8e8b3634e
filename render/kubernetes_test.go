// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/json"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render"
)

// typeOf returns an empty object of the Go type of a rendered kind; nil for kinds
// of projects whose types are not among the dependencies.
func typeOf(o *unstructured.Unstructured) any {
	switch o.GetAPIVersion() + " " + o.GetKind() {
	case "valkey-render.dev/v1alpha1 ValkeyCluster":
		return &v1alpha1.ValkeyCluster{}
	case "valkey-render.dev/v1alpha1 ValkeyACL":
		return &v1alpha1.ValkeyACL{}
	case "v1 ConfigMap":
		return &corev1.ConfigMap{}
	case "v1 Service":
		return &corev1.Service{}
	case "v1 PersistentVolumeClaim":
		return &corev1.PersistentVolumeClaim{}
	case "apps/v1 StatefulSet":
		return &appsv1.StatefulSet{}
	case "policy/v1 PodDisruptionBudget":
		return &policyv1.PodDisruptionBudget{}
	case "v1 ServiceAccount":
		return &corev1.ServiceAccount{}
	case "rbac.authorization.k8s.io/v1 Role":
		return &rbacv1.Role{}
	case "rbac.authorization.k8s.io/v1 RoleBinding":
		return &rbacv1.RoleBinding{}
	case "batch/v1 Job":
		return &batchv1.Job{}
	case "networking.k8s.io/v1 NetworkPolicy":
		return &networkingv1.NetworkPolicy{}
	}
	return nil
}

// foreign are the kinds of cert-manager and the Prometheus operator.
func foreign() []string {
	return []string{
		"cert-manager.io/v1 Certificate", "monitoring.coreos.com/v1 PodMonitor", "monitoring.coreos.com/v1 PrometheusRule",
	}
}

func TestExamplesAreOfTheKubernetesTypes(t *testing.T) {
	for _, ex := range allExamples(t) {
		t.Run(ex.name, func(t *testing.T) {
			for _, o := range build(t, render.Options{}, ex.sources...).Objects {
				into := typeOf(o)
				if into == nil {
					if !slices.Contains(foreign(), o.GetAPIVersion()+" "+o.GetKind()) {
						t.Errorf("%s/%s is of no kind that was stable in Kubernetes 1.30", o.GetKind(), o.GetName())
					}
					continue
				}
				text, err := o.MarshalJSON()
				if err != nil {
					t.Fatal(err)
				}
				strict, err := json.UnmarshalStrict(text, into)
				if err != nil || len(strict) > 0 {
					t.Errorf("%s/%s: %v %v", o.GetKind(), o.GetName(), err, strict)
				}
			}
		})
	}
}

// younger are fields of the rendered kinds that became stable after Kubernetes
// 1.30, by the release in which they did.
func younger() map[string]string {
	return map[string]string{
		"unhealthyPodEvictionPolicy":           "1.31",
		"appArmorProfile":                      "1.31",
		"persistentVolumeClaimRetentionPolicy": "1.32",
		"nodeAffinityPolicy":                   "1.33",
		"nodeTaintsPolicy":                     "1.33",
		"matchLabelKeys":                       "1.33 for affinity",
		"mismatchLabelKeys":                    "1.33",
		"restartPolicyRules":                   "alpha in 1.34",
		"supplementalGroupsPolicy":             "1.35",
		"resizePolicy":                         "1.35",
		"trafficDistribution":                  "1.33",
		"volumeAttributesClassName":            "1.34",
		"hostUsers":                            "beta",
		"resourceClaims":                       "1.34",
		"podReplacementPolicy":                 "1.34",
		"podFailurePolicy":                     "1.31",
	}
}

// onByDefault are those of them that Kubernetes 1.30 takes as well: beta, and on.
func onByDefault() []string { return []string{"podReplacementPolicy", "podFailurePolicy"} }

func TestExamplesUseOnlyWhatIsStableSinceKubernetes130(t *testing.T) {
	for _, ex := range allExamples(t) {
		t.Run(ex.name, func(t *testing.T) {
			for _, o := range build(t, render.Options{}, ex.sources...).Objects {
				if o.GetKind() == v1alpha1.KindCluster || o.GetKind() == v1alpha1.KindACL {
					continue
				}
				eachField(o.Object, func(name string) {
					if since, ok := younger()[name]; ok && !slices.Contains(onByDefault(), name) {
						t.Errorf("%s/%s has %s, stable since %s", o.GetKind(), o.GetName(), name, since)
					}
				})
			}
		})
	}
}

func eachField(v any, visit func(string)) {
	switch v := v.(type) {
	case map[string]any:
		for name, item := range v {
			visit(name)
			eachField(item, visit)
		}
	case []any:
		for _, item := range v {
			eachField(item, visit)
		}
	}
}
