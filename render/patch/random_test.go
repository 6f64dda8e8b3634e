// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package patch_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/patch"
)

// operations makes random JSON 6902 operations for an object: at places that it
// has or could have, with values that are elsewhere in it or that do harm.
type operations struct {
	*rand.Rand
	places []place
}

type place struct {
	pointer string
	value   any
}

func (o *operations) walk(pointer string, v any) {
	o.places = append(o.places, place{pointer, v})
	switch v := v.(type) {
	case map[string]any:
		keys := make([]string, 0, len(v))
		for key := range v {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		for _, key := range keys {
			o.walk(pointer+"/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(key), v[key])
		}
	case []any:
		for i, item := range v {
			o.walk(fmt.Sprintf("%s/%d", pointer, i), item)
		}
	}
}

func pick[T any](o *operations, l []T) T { return l[o.IntN(len(l))] }

// fields that an object could have anywhere.
func fields() []string {
	return strings.Fields(`name image command args env envFrom ports resources volumeMounts mountPath subPath lifecycle workingDir
		hostname subdomain ordinals replicas minReadySeconds serviceName immutable type externalName clusterIP clusterIPs
		publishNotReadyAddresses maxUnavailable minAvailable storageClassName accessModes volumeName persistentVolumeClaimRetentionPolicy
		automountServiceAccountToken enableServiceLinks restartPolicy terminationGracePeriodSeconds terminationMessagePath tolerations
		ownerReferences finalizers labels annotations status tty stdin fooBar nodePort appProtocol immutable data timeoutSeconds
		schedulerName hostNetwork revisionHistoryLimit podManagementPolicy unhealthyPodEvictionPolicy team`)
}

func harm() []any {
	env := func(name string) any { return map[string]any{"name": name, "value": "x"} }
	mount := func(at string) any { return map[string]any{"name": "tmp", "mountPath": at} }
	return []any{
		nil, true, false, 0, 1, -1, 2, 3000, 30.5, "", "x", "ten", "0%", "100%", "50%", "1Gi", "99Gi", "/valkey", "/data/", "/x", "None", "ExternalName",
		"LoadBalancer", "Delete", "Retain",
		[]any{},
		map[string]any{},
		[]any{nil},
		[]any{"x"},
		map[string]any{"x": "y"},
		map[string]any{"a": 1},
		env("VALKEY_ROOT"), env("POD_IP"), env("TZ"), mount("/valkey/scripts/"), mount("/valkey/acl/.."), mount("/tmp/x"), mount("/more"),
		map[string]any{"name": "web", "image": "web"},
		map[string]any{"name": "server", "image": "web"},
		map[string]any{"name": "more", "containerPort": 80},
		map[string]any{"name": "more", "port": 80},
		map[string]any{"containerPort": 6379},
		map[string]any{"name": "more", "emptyDir": map[string]any{}},
		map[string]any{"name": "data", "emptyDir": map[string]any{}},
		map[string]any{"whenScaled": "Delete"},
		map[string]any{"start": 1},
		map[string]any{"configMapRef": map[string]any{"name": "x"}},
		map[string]any{"key": "x", "operator": "Exists"},
		map[string]any{"limits": map[string]any{"memory": "1Mi"}},
	}
}

func (o *operations) value() any {
	if o.IntN(2) == 0 {
		return pick(o, o.places).value
	}
	return pick(o, harm())
}

// target is where something may be put: a place, an item more, a field more.
func (o *operations) target() string {
	p := pick(o, o.places)
	switch v := p.value.(type) {
	case map[string]any:
		if o.IntN(2) == 0 {
			return p.pointer + "/" + pick(o, fields())
		}
	case []any:
		switch o.IntN(4) {
		case 0, 1:
			return p.pointer + "/-"
		case 2:
			return fmt.Sprintf("%s/%d", p.pointer, o.IntN(len(v)+1))
		}
	}
	return p.pointer
}

func (o *operations) one() map[string]any {
	switch n := o.IntN(20); {
	case n < 10:
		return map[string]any{"op": "add", "path": o.target(), "value": o.value()}
	case n < 14:
		return map[string]any{"op": "replace", "path": pick(o, o.places).pointer, "value": o.value()}
	case n < 16:
		return map[string]any{"op": "remove", "path": pick(o, o.places).pointer}
	case n < 18:
		return map[string]any{"op": "copy", "from": pick(o, o.places).pointer, "path": o.target()}
	case n < 19:
		return map[string]any{"op": "move", "from": pick(o, o.places).pointer, "path": o.target()}
	}
	p := pick(o, o.places)
	return map[string]any{"op": "test", "path": p.pointer, "value": p.value}
}

// randomPatch is made from a seed alone.
func randomPatch(t testing.TB, objs []*unstructured.Unstructured, seed uint64) v1alpha1.Patch {
	o := &operations{Rand: rand.New(rand.NewPCG(seed, 0))}
	// By kind first: there are more claims and budgets than anything else.
	kinds := []string{"StatefulSet", "StatefulSet", "StatefulSet", "Service", "ConfigMap", "PersistentVolumeClaim", "PodDisruptionBudget", "NetworkPolicy", "Certificate", "PodMonitor", "ValkeyCluster"}
	kind := pick(o, kinds)
	var some []*unstructured.Unstructured
	for _, obj := range objs {
		if obj.GetKind() == kind {
			some = append(some, obj)
		}
	}
	if len(some) == 0 {
		some = objs
	}
	obj := pick(o, some)
	o.walk("", obj.Object)
	var list []any
	for range 1 + o.IntN(2) {
		list = append(list, o.one())
	}
	raw, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	return v1alpha1.Patch{Target: &v1alpha1.PatchTarget{Kind: obj.GetKind(), Name: obj.GetName()}, Patch: string(raw)}
}

func specs() []string {
	return []string{"testdata/cluster.yaml", "../../examples/replication-durable/cluster.yaml"}
}

// Whatever a patch does, it is refused or leaves what the cluster depends on.
func TestRandomOperationsLeaveWhatIsProtected(t *testing.T) {
	for _, file := range specs() {
		in := rendered(t, file)
		accepted := 0
		for seed := range uint64(200) {
			p := randomPatch(t, in, seed)
			out, idle, errs := patch.Apply(in, []v1alpha1.Patch{p})
			if len(errs) > 0 || len(idle) > 0 {
				continue
			}
			accepted++
			if holds(t, in, out); t.Failed() {
				t.Fatalf("%s, seed %d: %s %s", file, seed, p.Target.Name, p.Patch)
			}
		}
		if accepted < 5 {
			t.Errorf("%s: only %d patches were accepted, which proves little", file, accepted)
		}
	}
}

func FuzzOperations(f *testing.F) {
	in := [][]*unstructured.Unstructured{}
	for _, file := range specs() {
		in = append(in, rendered(f, file))
	}
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) {
		objs := in[seed%uint64(len(in))]
		p := randomPatch(t, objs, seed)
		out, _, errs := patch.Apply(objs, []v1alpha1.Patch{p})
		if len(errs) > 0 {
			return
		}
		if holds(t, objs, out); t.Failed() {
			t.Fatalf("%s %s", p.Target.Name, p.Patch)
		}
	})
}
