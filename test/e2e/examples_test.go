// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

//go:build cluster

package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/valkey-render/valkey-render/render/name"
)

// examples are the directories of examples/ that have specs.
func examples(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../../examples/*/cluster.yaml")
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	more, err := filepath.Glob("../../examples/environments/*/kustomization.yaml")
	if err != nil || len(more) < 2 {
		t.Fatal(more, err)
	}
	return append(files, more...)
}

// TestClusterExamplesRun: the pods of every example start under Pod Security "restricted",
// and are Ready or wait for a Job as their topology has it.
func TestClusterExamplesRun(t *testing.T) {
	p := newPlace(t)
	p.standIns()
	p.prerequisites()
	for _, file := range examples(t) {
		dir := filepath.Dir(file)
		example, err := filepath.Rel("../../examples", dir)
		if err != nil {
			t.Fatal(err)
		}
		if example == "environments/base" {
			continue // both others have it
		}
		// One after the other: what starts a dozen pods has a small machine to itself.
		t.Run(example, func(t *testing.T) {
			p := newPlace(t)
			p.squeeze()
			if _, err := os.Stat(filepath.Join(dir, "kustomization.yaml")); err == nil {
				file = dir
			}
			p.exampleRuns(p.moved(file))
		})
	}
}

func (p *place) exampleRuns(spec []string) {
	want := map[string]int{}
	serves := true
	for _, o := range p.rendered(spec) {
		switch o.GetKind() {
		case "StatefulSet":
			n, _, _ := unstructured.NestedInt64(o.Object, "spec", "replicas")
			want[o.GetLabels()[name.LabelComponent]] += int(n)
		case "ValkeyCluster":
			topology, _, _ := unstructured.NestedString(o.Object, "spec", "topology")
			serves = slices.Contains([]string{"", "Cluster", "Standalone"}, topology)
		}
	}
	if want[name.ComponentServer] == 0 {
		p.Fatal("no pods are rendered")
	}
	p.apply(spec)
	p.until(2*patience, func() error {
		var errs []error
		for component, n := range want {
			errs = append(errs, p.count(component, n))
			for _, pod := range p.pods(name.LabelComponent, component) {
				if is, must := ready(&pod), serves || component == name.ComponentSentinel; is != must {
					errs = append(errs, fmt.Errorf("%s: Ready %t, want %t", pod.Name, is, must))
				}
			}
		}
		return errors.Join(errs...)
	})
}

// squeeze has every pod of the namespace ask for next to nothing, so that what is meant
// for large machines fits on a small one.
func (p *place) squeeze() {
	p.Helper()
	ns := &unstructured.Unstructured{}
	ns.SetAPIVersion("v1")
	ns.SetKind("Namespace")
	ns.SetName(p.namespace)
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"e2e.valkey-render.dev/squeeze":"yes"}}}`))
	if err := p.api.Patch(p.Context(), ns, patch); err != nil {
		p.Fatal(err)
	}
	// The API server looks at a policy, and at the labels of a namespace, some time after
	// they were written. Pods that it lets pass before keep what they ask for.
	p.until(patience, func() error {
		pod := restricted("squeezed")
		pod.Namespace = p.namespace
		pod.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("64")}
		if err := p.api.Create(p.Context(), pod, client.DryRunAll); err != nil {
			return err
		}
		if asks := pod.Spec.Containers[0].Resources.Requests.Cpu(); asks.Cmp(resource.MustParse("1")) > 0 {
			return fmt.Errorf("a pod still asks for %s processors", asks)
		}
		return nil
	})
}

// prerequisites are what the examples take for granted: classes, zones, and, so that they
// fit, the policy that squeezes them.
func (p *place) prerequisites() {
	p.Helper()
	p.server(`
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: fast}
provisioner: localcluster.valkey-render.dev/directory
volumeBindingMode: WaitForFirstConsumer
allowVolumeExpansion: true
`, `
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: data}
value: 1000
`, `
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: production-data}
value: 1000
`, `
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: e2e-squeeze}
spec:
  failurePolicy: Fail
  reinvocationPolicy: Never
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration:
      expression: >-
        Object{spec: Object.spec{containers: object.spec.containers.map(c, Object.spec.containers{
          name: c.name, resources: Object.spec.containers.resources{requests: {"cpu": "2m", "memory": "8Mi"}}})}}
`, `
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: e2e-squeeze}
spec:
  policyName: e2e-squeeze
  matchResources:
    namespaceSelector: {matchLabels: {e2e.valkey-render.dev/squeeze: "yes"}}
`)
	if os.Getenv("LOCALCLUSTER") == "" {
		return
	}
	for node, zone := range map[string]string{"node1": "eu-west-1a", "node2": "eu-west-1b", "node3": "eu-west-1c"} {
		o := &unstructured.Unstructured{}
		o.SetAPIVersion("v1")
		o.SetKind("Node")
		o.SetName(node)
		patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"topology.kubernetes.io/zone":"`+zone+`"}}}`))
		if err := p.api.Patch(p.Context(), o, patch); err != nil {
			p.Fatal(err)
		}
	}
}

// server applies manifests.
func (p *place) server(manifests ...string) {
	p.Helper()
	for _, text := range manifests {
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
			p.Fatal(err)
		}
		err := p.api.Apply(p.Context(), client.ApplyConfigurationFromUnstructured(o), client.ForceOwnership, client.FieldOwner("e2e"))
		if err != nil {
			p.Fatal(err)
		}
	}
}
