// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"os"
	"slices"
	"testing"

	kstatus "github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"github.com/google/cel-go/cel"
	lua "github.com/yuin/gopher-lua"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
)

const gitOps = "../../examples/gitops/"

func readFile(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// argo runs a health script as Argo CD does: with the base and table libraries, the object
// as the global obj, and a table as the result.
func argo(t *testing.T, script string, object map[string]any) (health, message string) {
	t.Helper()
	l := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer l.Close()
	for name, open := range map[string]lua.LGFunction{lua.BaseLibName: lua.OpenBase, lua.TabLibName: lua.OpenTable} {
		if err := l.CallByParam(lua.P{Fn: l.NewFunction(open), Protect: true}, lua.LString(name)); err != nil {
			t.Fatal(err)
		}
	}
	l.SetGlobal("obj", luaValue(l, object))
	if err := l.DoString(script); err != nil {
		t.Fatal(err)
	}
	result, ok := l.Get(-1).(*lua.LTable)
	if !ok {
		t.Fatalf("returns %s", l.Get(-1).Type())
	}
	return result.RawGetString("status").String(), result.RawGetString("message").String()
}

func luaValue(l *lua.LState, value any) lua.LValue {
	switch v := value.(type) {
	case map[string]any:
		table := l.NewTable()
		for key, element := range v {
			table.RawSetString(key, luaValue(l, element))
		}
		return table
	case []any:
		table := l.NewTable()
		for _, element := range v {
			table.Append(luaValue(l, element))
		}
		return table
	case string:
		return lua.LString(v)
	case bool:
		return lua.LBool(v)
	case int64:
		return lua.LNumber(v)
	case float64:
		return lua.LNumber(v)
	}
	return lua.LNil
}

// expressions are the healthCheckExprs of a kind in the shipped Kustomization.
func expressions(t *testing.T, kind string) map[string]string {
	t.Helper()
	var k struct {
		Spec struct {
			HealthCheckExprs []map[string]string `json:"healthCheckExprs"`
		} `json:"spec"`
	}
	if err := yaml.Unmarshal([]byte(readFile(t, gitOps+"flux-kustomization.yaml")), &k); err != nil {
		t.Fatal(err)
	}
	for _, e := range k.Spec.HealthCheckExprs {
		if e["kind"] == kind && e["apiVersion"] == v1alpha1.GroupVersion().String() {
			return e
		}
	}
	t.Fatalf("no expressions for %s", kind)
	return nil
}

// flux evaluates them in the order of Flux: what is not observed is in progress, then
// inProgress, failed and current, and what is none of them is in progress.
func flux(t *testing.T, exprs map[string]string, object map[string]any) kstatus.Status {
	t.Helper()
	observed, there, _ := unstructured.NestedInt64(object, "status", "observedGeneration")
	if generation, _, _ := unstructured.NestedInt64(object, "metadata", "generation"); there && observed != generation {
		return kstatus.InProgressStatus
	}
	env, err := cel.NewEnv(cel.CrossTypeNumericComparisons(true), cel.OptionalTypes())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []struct {
		name   string
		status kstatus.Status
	}{{"inProgress", kstatus.InProgressStatus}, {"failed", kstatus.FailedStatus}, {"current", kstatus.CurrentStatus}} {
		text := exprs[e.name]
		if text == "" {
			continue
		}
		parsed, issues := env.Parse(text)
		if issues.Err() != nil {
			t.Fatal(issues.Err())
		}
		program, err := env.Program(parsed)
		if err != nil {
			t.Fatal(err)
		}
		value, _, err := program.Eval(object)
		if err != nil {
			t.Fatalf("%s: %v", e.name, err)
		}
		if value.Value() == true {
			return e.status
		}
	}
	return kstatus.InProgressStatus
}

func object(t *testing.T, kind string, from any) map[string]any {
	t.Helper()
	o, err := runtime.DefaultUnstructuredConverter.ToUnstructured(from)
	if err != nil {
		t.Fatal(err)
	}
	o["apiVersion"], o["kind"] = v1alpha1.GroupVersion().String(), kind
	return o
}

func kstatusOf(t *testing.T, o map[string]any) kstatus.Status {
	t.Helper()
	result, err := kstatus.Compute(&unstructured.Unstructured{Object: o})
	if err != nil {
		t.Fatal(err)
	}
	return result.Status
}

// TestHealthOfAClusterForGitOps: one table for kstatus, Argo CD and Flux.
func TestHealthOfAClusterForGitOps(t *testing.T) {
	const inProgress, current, failed = kstatus.InProgressStatus, kstatus.CurrentStatus, kstatus.FailedStatus
	three := int32(3)
	for title, test := range map[string]struct {
		spec    string
		change  func(*world)
		kstatus kstatus.Status
		argo    string
		flux    kstatus.Status
		message string
	}{
		"not looked at yet": {cacheSpec, func(w *world) {
			w.c.Status = v1alpha1.ValkeyClusterStatus{ObservedGeneration: -1, State: "Initializing"}
		}, inProgress, "Progressing", inProgress, "Waiting for the reconciler to look at this generation"},
		"an older generation": {cacheSpec, func(w *world) { w.c.Generation = 2 }, inProgress, "Progressing", inProgress, "Waiting for the reconciler to look at this generation"},
		"ready":               {cacheSpec, func(*world) {}, current, "Healthy", current, "Cluster is healthy"},
		"ready with warnings": {"shards: 2\n", func(w *world) { w.settle() }, current, "Healthy", current, "Cluster is healthy"},
		"nodes join":          {cacheSpec, func(w *world) { w.o.Next.Work = []Work{WorkJoin}; w.settle() }, inProgress, "Progressing", inProgress, "Adding nodes to cluster"},
		"pods are rolled":     {cacheSpec, func(w *world) { w.o.Next.Work = []Work{WorkRoll}; w.settle() }, inProgress, "Progressing", inProgress, "Pods are being replaced, replicas before primaries"},
		"a shard drains":      {"shards: 4\n", func(w *world) { w.c.Spec.Shards = &three; w.c.Generation = 2; w.settle() }, inProgress, "Healthy", inProgress, "draining shard 3"},
		"a shard drains and another has no primary": {"shards: 4\n", func(w *world) {
			w.c.Spec.Shards, w.c.Generation = &three, 2
			w.kill("c-0-0")
			w.settle()
		}, inProgress, "Degraded", inProgress, "no primary serves shard 0"},
		"a shard is drained": {"shards: 4\n", func(w *world) {
			w.c.Spec.Shards, w.c.Generation, w.o.Drained = &three, 2, []int32{3}
			w.settle()
		}, current, "Healthy", current, "Cluster is healthy"},
		"slots move to a new shard": {cacheSpec, func(w *world) { w.o.Next.Work = []Work{WorkMove}; w.settle() }, inProgress, "Progressing", inProgress, "Slots are to move when all nodes agree"},
		"a primary is down":         {cacheSpec, func(w *world) { w.kill("c-0-0"); w.settle() }, inProgress, "Degraded", inProgress, "no primary serves shard 0"},
		"somebody has to decide":    {cacheSpec, func(w *world) { w.o.Next.Blocked = &Blocked{"ForeignData", "c-2-1"}; w.settle() }, failed, "Degraded", failed, "c-2-1"},
		"a Job failed too often":    {cacheSpec, func(w *world) { w.o.Next.Blocked = &Blocked{"JobBlocked", "Job x"}; w.settle() }, failed, "Degraded", failed, "Job x"},
		"nothing was rendered":      {cacheSpec + "delivery: GitOps\n", func(w *world) { w.o.Rendering.Current = false; w.settle() }, inProgress, "Progressing", inProgress, ""},
		"a Secret is missing":       {cacheSpec, func(w *world) { w.o.Secrets = map[string]Secret{}; w.settle() }, inProgress, "Progressing", inProgress, ""},
		"hibernated":                {durableSpec, func(w *world) { w.c.Spec.Hibernate = true; w.o.Pods, w.o.View = nil, nil; w.settle() }, inProgress, "Healthy", current, ""},
		"suspended and well":        {cacheSpec, func(w *world) { w.c.Spec.Suspend = true; w.settle() }, current, "Healthy", current, "Cluster is healthy"},
		"suspended with work to do": {cacheSpec, func(w *world) {
			w.c.Spec.Suspend = true
			w.answer("c-0-1").Syncing, w.answer("c-0-1").LinkUp = true, false
			w.settle()
		}, inProgress, "Suspended", inProgress, ""},
		"a Replication without primary": {replicationSpec, func(w *world) { w.kill("c-0-0"); w.settle() }, inProgress, "Degraded", inProgress, ""},
	} {
		t.Run(title, func(t *testing.T) {
			w := healthy(t, test.spec)
			test.change(w)
			o := object(t, v1alpha1.KindCluster, w.c)
			if got := kstatusOf(t, o); got != test.kstatus {
				t.Errorf("kstatus: %s, want %s", got, test.kstatus)
			}
			health, message := argo(t, readFile(t, gitOps+"valkeycluster-health.lua"), o)
			if health != test.argo || test.message != "" && message != test.message {
				t.Errorf("Argo CD: %s %q, want %s %q", health, message, test.argo, test.message)
			}
			if got := flux(t, expressions(t, v1alpha1.KindCluster), o); got != test.flux {
				t.Errorf("Flux: %s, want %s", got, test.flux)
			}
		})
	}
}

func TestHealthOfANodeForGitOps(t *testing.T) {
	for title, test := range map[string]struct {
		change  func(*world)
		kstatus kstatus.Status
		argo    string
		flux    kstatus.Status
	}{
		"ready":           {func(*world) {}, kstatus.CurrentStatus, "Healthy", kstatus.CurrentStatus},
		"unready":         {func(w *world) { w.pod("c-0-1").Ready = false }, kstatus.InProgressStatus, "Progressing", kstatus.InProgressStatus},
		"without a claim": {func(w *world) { w.claim("data-c-0-1").Phase = corev1.ClaimPending; w.pod("c-0-1").Ready = false }, kstatus.InProgressStatus, "Progressing", kstatus.InProgressStatus},
		"refusing":        {func(w *world) { w.refuse("c-0-1", "ERR no") }, kstatus.CurrentStatus, "Degraded", kstatus.FailedStatus},
	} {
		t.Run(title, func(t *testing.T) {
			w := healthy(t, durableSpec)
			test.change(w)
			w.settle()
			o := object(t, v1alpha1.KindNode, &w.o.Nodes[1])
			if got := kstatusOf(t, o); got != test.kstatus {
				t.Errorf("kstatus: %s", got)
			}
			if health, message := argo(t, readFile(t, gitOps+"valkeynode-health.lua"), o); health != test.argo || message == "" {
				t.Errorf("Argo CD: %s %q", health, message)
			}
			if got := flux(t, expressions(t, v1alpha1.KindNode), o); got != test.flux {
				t.Errorf("Flux: %s", got)
			}
		})
	}
}

// TestTheConfigMapOfArgoCDHasTheScripts.
func TestTheConfigMapOfArgoCDHasTheScripts(t *testing.T) {
	var cm corev1.ConfigMap
	if err := yaml.UnmarshalStrict([]byte(readFile(t, gitOps+"argocd-cm.yaml")), &cm); err != nil {
		t.Fatal(err)
	}
	var keys []string
	for key, script := range cm.Data {
		keys = append(keys, key)
		file := map[string]string{
			"resource.customizations.health.valkey-render.dev_ValkeyCluster": "valkeycluster-health.lua",
			"resource.customizations.health.valkey-render.dev_ValkeyNode":    "valkeynode-health.lua",
		}[key]
		if file == "" || script != readFile(t, gitOps+file) {
			t.Errorf("%s is not the script %s", key, file)
		}
	}
	if slices.Sort(keys); len(keys) != 2 {
		t.Errorf("%v", keys)
	}
}
