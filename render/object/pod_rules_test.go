// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package object

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/pod-security-admission/api"
	podsecurity "k8s.io/pod-security-admission/policy"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/render/script"
)

func TestPodsMeetRestrictedPodSecurity(t *testing.T) {
	evaluator, err := podsecurity.NewEvaluator(podsecurity.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range []api.Version{api.MajorMinorVersion(1, 30), api.LatestVersion()} {
		everyCase(t, func(t *testing.T, _ *v1alpha1.ValkeyCluster, objects []*unstructured.Unstructured) {
			for _, set := range statefulSets(t, objects) {
				level := api.LevelVersion{Level: api.LevelRestricted, Version: version}
				for _, result := range evaluator.EvaluatePod(level, &set.Spec.Template.ObjectMeta, &set.Spec.Template.Spec) {
					if !result.Allowed {
						t.Errorf("%s, %s: %s: %s", set.Name, version, result.ForbiddenReason, result.ForbiddenDetail)
					}
				}
			}
		})
	}
}

func TestRootFileSystemsOfOurContainersAreReadOnly(t *testing.T) {
	everyCase(t, func(t *testing.T, _ *v1alpha1.ValkeyCluster, objects []*unstructured.Unstructured) {
		for _, set := range statefulSets(t, objects) {
			spec := set.Spec.Template.Spec
			for _, c := range append(spec.InitContainers, spec.Containers...) {
				ours := c.Name == "server" || c.Name == "exporter" || strings.HasPrefix(c.Name, "module-")
				if ours && (c.SecurityContext.ReadOnlyRootFilesystem == nil || !*c.SecurityContext.ReadOnlyRootFilesystem) {
					t.Errorf("%s: the root of container %s can be written", set.Name, c.Name)
				}
			}
			if *spec.AutomountServiceAccountToken {
				t.Errorf("%s mounts a token", set.Name)
			}
		}
	})
}

func TestSelectorsMatchTheirPods(t *testing.T) {
	everyCase(t, func(t *testing.T, c *v1alpha1.ValkeyCluster, objects []*unstructured.Unstructured) {
		sets := statefulSets(t, objects)
		for i, set := range sets {
			selector := labels.SelectorFromSet(set.Spec.Selector.MatchLabels)
			for j, other := range sets {
				if matches := selector.Matches(labels.Set(other.Spec.Template.Labels)); matches != (i == j) {
					t.Errorf("the selector of %s matches pods of %s: %t", set.Name, other.Name, matches)
				}
			}
			want := name.SentinelSelector(c.Name)
			if shard, ok := set.Labels[name.LabelShard]; ok {
				want = map[string]string{name.LabelComponent: "server", name.LabelCluster: c.Name, name.LabelShard: shard}
			}
			if diff := cmp.Diff(want, set.Spec.Selector.MatchLabels); diff != "" {
				t.Errorf("the selector of %s changed, which no apply survives (-want +got):\n%s", set.Name, diff)
			}
			if _, there := set.Spec.Template.Labels[name.LabelManagedBy]; there {
				t.Errorf("%s: %s in the pod template", set.Name, name.LabelManagedBy)
			}
			if _, there := set.Spec.Template.Labels[name.LabelRole]; there {
				t.Errorf("%s: %s in the pod template", set.Name, name.LabelRole)
			}
		}
		for _, o := range objects {
			selector, _, _ := unstructured.NestedStringMap(o.Object, "spec", "selector", "matchLabels")
			if o.GetKind() == "Service" {
				selector, _, _ = unstructured.NestedStringMap(o.Object, "spec", "selector")
			}
			if selector == nil {
				continue
			}
			for _, key := range []string{name.LabelComponent, name.LabelCluster} {
				if selector[key] == "" {
					t.Errorf("%s/%s selects without %s", o.GetKind(), o.GetName(), key)
				}
			}
		}
	})
}

func TestClaimTemplatesHoldNothingThatVaries(t *testing.T) {
	everyCase(t, func(t *testing.T, c *v1alpha1.ValkeyCluster, objects []*unstructured.Unstructured) {
		for _, set := range statefulSets(t, objects) {
			for _, template := range set.Spec.VolumeClaimTemplates {
				if len(template.Labels)+len(template.Annotations) > 0 {
					t.Errorf("%s: labels or annotations in the claim template", set.Name)
				}
				want := *claim(c, template.ObjectMeta, c.InitialSize())
				want.Status.Phase = corev1.ClaimPending
				if diff := cmp.Diff(want, template); diff != "" {
					t.Errorf("%s: claim template (-want +got):\n%s", set.Name, diff)
				}
				if template.APIVersion == "" || template.Kind == "" || template.Spec.VolumeMode == nil {
					t.Errorf("%s: the server would add to the claim template", set.Name)
				}
			}
		}
	})
}

// TestClaimsAreThoseThatTheControllerLooksFor: <template>-<pod>, for every pod.
func TestClaimsAreThoseThatTheControllerLooksFor(t *testing.T) {
	everyCase(t, func(t *testing.T, c *v1alpha1.ValkeyCluster, objects []*unstructured.Unstructured) {
		var want, got []string
		for _, set := range statefulSets(t, objects) {
			for _, template := range set.Spec.VolumeClaimTemplates {
				for i := range c.PodsPerShard() {
					want = append(want, template.Name+"-"+set.Name+"-"+strconv.Itoa(int(i)))
				}
			}
		}
		for _, o := range objects {
			if o.GetKind() == "PersistentVolumeClaim" {
				got = append(got, o.GetName())
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("-want +got\n%s", diff)
		}
	})
}

func TestEveryReferenceInArgsAndEnvIsExpanded(t *testing.T) {
	reference := regexp.MustCompile(`\$\(([^)]*)\)`)
	everyCase(t, func(t *testing.T, _ *v1alpha1.ValkeyCluster, objects []*unstructured.Unstructured) {
		for _, set := range statefulSets(t, objects) {
			for _, c := range set.Spec.Template.Spec.Containers {
				defined := map[string]bool{}
				check := func(where, text string) {
					for _, m := range reference.FindAllStringSubmatch(text, -1) {
						if !defined[m[1]] {
							t.Errorf("%s, container %s, %s: $(%s) is not defined above", set.Name, c.Name, where, m[1])
						}
					}
				}
				for _, e := range c.Env {
					check("env "+e.Name, e.Value)
					if defined[e.Name] {
						t.Errorf("%s: variable %s twice", set.Name, e.Name)
					}
					defined[e.Name] = true
				}
				for _, arg := range append(c.Command, c.Args...) {
					check("args", arg)
				}
			}
		}
	})
}

func TestSecretsAreMountedAndNothingElse(t *testing.T) {
	everyCase(t, func(t *testing.T, _ *v1alpha1.ValkeyCluster, objects []*unstructured.Unstructured) {
		for _, set := range statefulSets(t, objects) {
			spec := set.Spec.Template.Spec
			mounted := map[string]bool{}
			for _, c := range append(spec.InitContainers, spec.Containers...) {
				for _, e := range c.Env {
					if e.ValueFrom != nil && e.ValueFrom.SecretKeyRef != nil {
						t.Errorf("%s: %s holds a secret", set.Name, e.Name)
					}
				}
				if len(c.EnvFrom) > 0 {
					t.Errorf("%s: container %s has envFrom", set.Name, c.Name)
				}
				paths := map[string]bool{}
				for _, m := range c.VolumeMounts {
					if paths[m.MountPath] {
						t.Errorf("%s: %s is mounted twice", set.Name, m.MountPath)
					}
					paths[m.MountPath], mounted[m.Name] = true, true
				}
			}
			volumes := map[string]bool{}
			for _, v := range spec.Volumes {
				volumes[v.Name] = true
			}
			for _, template := range set.Spec.VolumeClaimTemplates {
				volumes[template.Name] = true
			}
			if diff := cmp.Diff(volumes, mounted); diff != "" {
				t.Errorf("%s: volumes and what is mounted (-volumes +mounts):\n%s", set.Name, diff)
			}
		}
	})
}

func TestServerContainersFollowThePodContract(t *testing.T) {
	everyCase(t, func(t *testing.T, _ *v1alpha1.ValkeyCluster, objects []*unstructured.Unstructured) {
		for _, set := range statefulSets(t, objects) {
			server := set.Spec.Template.Spec.Containers[0]
			if server.Name != "server" {
				t.Fatalf("%s: the first container is %s", set.Name, server.Name)
			}
			has := func(variable string) bool {
				return slices.ContainsFunc(server.Env, func(e corev1.EnvVar) bool { return e.Name == variable })
			}
			needed := []string{
				script.EnvPodName, script.EnvPodNamespace, script.EnvPodIP, script.EnvVersion, script.EnvTopology,
				script.EnvPort, script.EnvTLS, script.EnvJobs, script.EnvFQDN,
			}
			if set.Labels[name.LabelShard] != "" {
				needed = append(needed, script.EnvPersisted)
			}
			if server.Lifecycle != nil {
				needed = append(needed, script.EnvGrace)
			}
			for _, variable := range needed {
				if !has(variable) {
					t.Errorf("%s: no %s", set.Name, variable)
				}
			}
			for _, dir := range []string{script.ConfigDir, script.ScriptsDir, script.ACLDir, script.SystemDir, script.RunDir, script.DataDir, "/tmp"} {
				if !slices.ContainsFunc(server.VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == dir }) {
					t.Errorf("%s: no mount at %s", set.Name, dir)
				}
			}
		}
	})
}

// TestPortNamesKeepTheirNumbers: lists of ports are merged by number, so an old
// number would stay beside a new one under the same name.
func TestPortNamesKeepTheirNumbers(t *testing.T) {
	everyCase(t, func(t *testing.T, c *v1alpha1.ValkeyCluster, objects []*unstructured.Unstructured) {
		want := map[string]int32{"valkey": c.Port(), "bus": c.Port() + 10000, "metrics": 9121, "sentinel": 26379}
		for _, set := range statefulSets(t, objects) {
			for _, container := range set.Spec.Template.Spec.Containers {
				for _, p := range container.Ports {
					if number, ours := want[p.Name]; ours && number != p.ContainerPort {
						t.Errorf("%s: port %s is %d", set.Name, p.Name, p.ContainerPort)
					}
					if p.Protocol == "" {
						t.Errorf("%s: port %s has no protocol", set.Name, p.Name)
					}
				}
			}
		}
		for _, o := range objects {
			if o.GetKind() != "Service" {
				continue
			}
			for _, p := range strictly(t, o).(*corev1.Service).Spec.Ports {
				if want[p.Name] != p.Port || p.TargetPort.StrVal != p.Name || p.Protocol != corev1.ProtocolTCP {
					t.Errorf("Service/%s: port %+v", o.GetName(), p)
				}
			}
		}
	})
}
