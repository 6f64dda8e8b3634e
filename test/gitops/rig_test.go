// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package gitops

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	"helm.sh/helm/v4/pkg/kube"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/valkey-render/valkey-render/internal/apitest"
	"github.com/valkey-render/valkey-render/render"
	"github.com/valkey-render/valkey-render/render/load"
	"github.com/valkey-render/valkey-render/topologyjob/guard"
)

// patience is how long a controller or the server may take.
const patience = 3 * time.Minute

func TestMain(m *testing.M) {
	// Argo CD's engine and Helm's client tell klog every step.
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	// As the program helm sets it.
	kube.ManagedFieldsManager = "helm"
	os.Exit(m.Run())
}

// rig is a namespace of a real server.
type rig struct {
	*testing.T
	client    client.Client
	namespace string
}

func newRig(t *testing.T) *rig {
	t.Helper()
	apitest.Install(t)
	return &rig{t, apitest.Client(t), apitest.Namespace(t)}
}

func (r *rig) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

// until waits for a condition.
func (r *rig) until(what string, done func() bool) {
	r.Helper()
	for end := time.Now().Add(patience); !done(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			r.Fatalf("after %s: not %s", patience, what)
		}
	}
}

// durable is a ValkeyCluster named cache with two claims for each shard.
func durable(shards int, size, more string) string {
	return fmt.Sprintf(`
apiVersion: valkey-render.dev/v1alpha1
kind: ValkeyCluster
metadata: {name: cache, namespace: shop}
spec:
  profile: Durable
  shards: %d
  replicasPerShard: 1
  resources: {limits: {memory: 1Gi}}
  storage: {size: %s, storageClassName: %s}
%s`, shards, size, class, more)
}

// rendered is what a spec renders to, in the order of the output.
func (r *rig) rendered(spec string) []*unstructured.Unstructured {
	r.Helper()
	set, findings := load.Parse([]load.Source{{Name: "spec.yaml", Data: []byte(spec)}},
		load.Options{Namespace: r.namespace, OverrideNamespace: true})
	r.must(findings.Err())
	result := render.Build(set, render.Options{})
	r.must(result.Findings.Err())
	return result.Objects
}

// guarded puts the guard into force until the test is over.
func (r *rig) guarded() {
	r.Helper()
	text, err := guard.Manifest(guard.Options{})
	r.must(err)
	for _, o := range documents(r.T, text) {
		r.Cleanup(func() { _ = r.client.Delete(context.Background(), o) })
		r.must(r.client.Apply(r.Context(), client.ApplyConfigurationFromUnstructured(o.DeepCopy()), client.FieldOwner("kubectl"), client.ForceOwnership))
	}
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: "probe", Labels: map[string]string{"valkey-render.dev/cluster": "probe"}},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		},
	}
	r.until("guarded", func() bool {
		return apierrors.IsForbidden(r.client.Create(r.Context(), claim.DeepCopy(), client.DryRunAll))
	})
}

func documents(t testing.TB, text []byte) []*unstructured.Unstructured {
	t.Helper()
	var out []*unstructured.Unstructured
	for decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096); ; {
		o := &unstructured.Unstructured{}
		err := decoder.Decode(&o.Object)
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(o.Object) > 0 {
			out = append(out, o)
		}
	}
}

func object(apiVersion, kind, namespace, called string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(apiVersion)
	o.SetKind(kind)
	o.SetNamespace(namespace)
	o.SetName(called)
	return o
}

func (r *rig) cluster() *unstructured.Unstructured {
	return object("valkey-render.dev/v1alpha1", "ValkeyCluster", r.namespace, "cache")
}

func (r *rig) statefulSet(shard int) *unstructured.Unstructured {
	return object("apps/v1", "StatefulSet", r.namespace, fmt.Sprint("cache-", shard))
}

// exists reports whether an object is there, and reads it.
func (r *rig) exists(o *unstructured.Unstructured) bool {
	r.Helper()
	err := r.client.Get(r.Context(), client.ObjectKeyFromObject(o), o)
	r.must(client.IgnoreNotFound(err))
	return err == nil
}

// field is a field of a live object.
func (r *rig) field(o *unstructured.Unstructured, path ...string) any {
	r.Helper()
	if !r.exists(o) {
		r.Fatalf("%s/%s is gone", o.GetKind(), o.GetName())
	}
	value, _, err := unstructured.NestedFieldNoCopy(o.Object, path...)
	r.must(err)
	return value
}

// drained is what the reconciler writes once a shard owns nothing any more.
func (r *rig) drained(shards string) {
	r.Helper()
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"status":{"drainedShards":[`+shards+`]}}`))
	r.must(r.client.Status().Patch(r.Context(), r.cluster(), patch))
	// The policy learns of it by a watch.
	r.until("free to go", func() bool {
		return r.client.Delete(r.Context(), r.statefulSet(3), client.DryRunAll) == nil
	})
}

// claims are the sizes of all claims, by name.
func (r *rig) claims() map[string]string {
	r.Helper()
	list := &corev1.PersistentVolumeClaimList{}
	r.must(r.client.List(r.Context(), list, client.InNamespace(r.namespace)))
	out := map[string]string{}
	for _, c := range list.Items {
		out[c.Name] = c.Spec.Resources.Requests.Storage().String()
	}
	return out
}

// sized are the claims of a number of shards, all of one size.
func sized(shards int, size string) map[string]string {
	out := map[string]string{}
	for shard := range shards {
		for pod := range 2 {
			out[fmt.Sprintf("data-cache-%d-%d", shard, pod)] = size
		}
	}
	return out
}

// pods counts the pods that controllers have made.
func (r *rig) pods() int {
	r.Helper()
	list := &corev1.PodList{}
	r.must(r.client.List(r.Context(), list, client.InNamespace(r.namespace)))
	return len(list.Items)
}

// events counts those of a reason with a text in the message.
func (r *rig) events(reason, text string) int {
	r.Helper()
	list := &corev1.EventList{}
	r.must(r.client.List(r.Context(), list, client.InNamespace(r.namespace)))
	n := 0
	for _, e := range list.Items {
		if e.Reason == reason && bytes.Contains([]byte(e.Message), []byte(text)) {
			n++
		}
	}
	return n
}

// bound waits until a number of claims have their volumes.
func (r *rig) bound(n int) {
	r.Helper()
	r.until(fmt.Sprint(n, " claims bound"), func() bool {
		list := &corev1.PersistentVolumeClaimList{}
		r.must(r.client.List(r.Context(), list, client.InNamespace(r.namespace)))
		bound := 0
		for _, c := range list.Items {
			if c.Status.Phase == corev1.ClaimBound {
				bound++
			}
		}
		return bound == n
	})
}
