// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/valkey-render/valkey-render/internal/apitest"
)

// onServer is a session whose kubeconfig is the real server's, and a namespace.
func onServer(t *testing.T, files map[string]string) (*session, string) {
	t.Helper()
	apitest.Install(t)
	namespace := apitest.Namespace(t)
	for name, text := range files {
		files[name] = strings.ReplaceAll(text, "namespace: shop", "namespace: "+namespace)
	}
	s := newSession(t, files)
	s.env["KUBECONFIG"] = apitest.Kubeconfig(t)
	return s, namespace
}

func TestAPIServerLifeOfACluster(t *testing.T) {
	s, namespace := onServer(t, map[string]string{"a.yaml": smallest, "b.yaml": strings.Replace(smallest, "1Gi", "2Gi", 1)})
	want := strings.Split(strings.ReplaceAll("ValkeyCluster/shop/cache ConfigMap/shop/cache-live ConfigMap/shop/cache-scripts Service/shop/cache "+
		"Service/shop/cache-nodes StatefulSet/shop/cache-0 PodDisruptionBudget/shop/cache-0", "/shop/", "/"+namespace+"/"), " ")
	lines := func(suffix string) string { return strings.Join(want, suffix+"\n") + suffix + "\n" }

	dry := s.must(exitOK, "apply", "-f", "a.yaml", "--dry-run=server")
	if dry.out != lines(" created (server dry run)") || !strings.Contains(dry.err, "7 created (server dry run: nothing was written)\n") {
		t.Errorf("dry run: %s%s", dry.out, dry.err)
	}
	if got := s.must(exitDifferences, "diff", "--live", "-f", "a.yaml"); !strings.Contains(got.out, "+++ b/StatefulSet/"+namespace+"/cache-0.yaml") {
		t.Errorf("diff: %s%s", got.out, got.err)
	}
	first := s.must(exitOK, "apply", "-f", "a.yaml")
	if first.out != lines(" created") || !strings.Contains(first.err, "no reconciler is running") {
		t.Errorf("apply: %s%s", first.out, first.err)
	}
	if again := s.must(exitOK, "apply", "-f", "a.yaml"); again.out != "" || !strings.Contains(again.err, "7 unchanged\n") {
		t.Errorf("second apply: %s%s", again.out, again.err)
	}
	if got := s.must(exitOK, "diff", "--live", "-f", "a.yaml"); got.out != "" {
		t.Errorf("diff: %s", got.out)
	}
	if got := s.must(exitDifferences, "diff", "--live", "-f", "b.yaml"); !strings.Contains(got.out, "-            memory: 1Gi\n+            memory: 2Gi\n") {
		t.Errorf("diff: %s%s", got.out, got.err)
	}
	waited := s.must(exitTimeout, "apply", "-f", "a.yaml", "--wait", "--timeout", "1s")
	if !strings.Contains(waited.err, "not ready: StatefulSet/"+namespace+"/cache-0: waiting: 0 of 1 pods are ready\n") || strings.Contains(waited.err, "\r") {
		t.Errorf("wait: %s", waited.err)
	}
	if got := s.must(exitTimeout, "wait", "-f", "b.yaml", "--timeout", "1s", "-o", "json"); !strings.Contains(got.out, `"message": "is not yet what is rendered"`) {
		t.Errorf("wait: %s", got.out)
	}
	if got := s.must(exitOK, "delete", "cache", "-n", namespace, "--wait"); !strings.HasPrefix(got.out, want[0]+" deleted\n") || strings.Count(got.out, " deleted\n") != 7 {
		t.Errorf("delete: %s%s", got.out, got.err)
	}
	if got := s.must(exitDifferences, "delete", "cache", "-n", namespace); !strings.Contains(got.err, "there is none, and no inventory of one") {
		t.Errorf("second delete: %s%s", got.out, got.err)
	}
}

func TestAPIServerRefusalIsExitOneAndInTheJSON(t *testing.T) {
	s, namespace := onServer(t, map[string]string{"a.yaml": smallest, "b.yaml": strings.Replace(smallest, "Standalone", "Replication", 1)})
	s.must(exitOK, "apply", "-f", "a.yaml")
	got := s.must(exitDifferences, "apply", "-f", "b.yaml", "-o", "json")
	var d struct {
		Error    string
		Clusters []struct {
			Namespace, Name string
			Changes         []struct {
				Kind, Name, Action string
				Fields             []struct{ Path, Live, Rendered string }
			}
		}
	}
	if err := json.Unmarshal([]byte(got.out), &d); err != nil {
		t.Fatal(err)
	}
	// What was planned beside it was not done, and is not said to be.
	if len(d.Clusters) != 1 || len(d.Clusters[0].Changes) != 1 || d.Clusters[0].Changes[0].Action != "failed" {
		t.Fatalf("%s", got.out)
	}
	if fields := d.Clusters[0].Changes[0].Fields; len(fields) == 0 || fields[0].Path != "spec.topology" || !strings.Contains(d.Error, "cannot be changed in place") {
		t.Errorf("%s", got.out)
	}
	if !strings.Contains(got.err, "valkey-render: ValkeyCluster/"+namespace+"/cache: cannot be changed in place: spec.topology") {
		t.Errorf("%s", got.err)
	}
}

// TestAPIServerKillNine ends the program with SIGKILL at random moments of applies
// that scale out and in, and looks at what the next one makes of it.
func TestAPIServerKillNine(t *testing.T) {
	const spec = `apiVersion: valkey-render.dev/v1alpha1
kind: ValkeyCluster
metadata: {name: cache, namespace: shop}
spec: {shards: SHARDS, replicasPerShard: 1, deletionPolicy: Allow, resources: {limits: {memory: 1Gi}}, storage: {size: 1Gi}}
`
	module, err := filepath.Abs("../../../..")
	if err != nil {
		t.Fatal(err)
	}
	s, namespace := onServer(t, map[string]string{"two.yaml": strings.Replace(spec, "SHARDS", "2", 1), "three.yaml": strings.Replace(spec, "SHARDS", "3", 1)})
	program := filepath.Join(t.TempDir(), "valkey-render")
	build := exec.Command("go", "build", "-o", program, "./cmd/valkey-render")
	build.Dir = module
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%s", out)
	}
	begin := time.Now()
	s.must(exitOK, "apply", "-f", "three.yaml")
	whole := time.Since(begin)
	seed := rand.Uint64()
	t.Logf("seed %d, an apply takes %s", seed, whole)
	random := rand.New(rand.NewPCG(seed, 0))
	killed := 0
	for round := range 20 {
		file := []string{"two.yaml", "three.yaml"}[round%2]
		run := exec.Command(program, "apply", "-f", file)
		run.Env = append(os.Environ(), "KUBECONFIG="+apitest.Kubeconfig(t))
		if err := run.Start(); err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(time.Duration(random.Int64N(int64(whole))), func() { _ = run.Process.Kill() })
		if err := run.Wait(); err != nil {
			killed++
		}
		timer.Stop()
		s.must(exitOK, "apply", "-f", file)
		if got := s.must(exitOK, "apply", "-f", file); got.out != "" {
			t.Errorf("round %d: one more apply: %s", round, got.out)
		}
		ids := identities(t, s.must(exitOK, "build", "-f", file).out)
		checkLive(t, namespace, ids)
	}
	if killed < 5 {
		t.Errorf("only %d of 20 were killed before they were done", killed)
	}
}

// checkLive compares the inventory, and the StatefulSets and budgets there are, with
// what is rendered.
func checkLive(t *testing.T, namespace string, rendered []string) {
	t.Helper()
	c := apitest.Client(t)
	var record corev1.ConfigMap
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "cache-inventory"}, &record); err != nil {
		t.Fatal(err)
	}
	var recorded []string
	for line := range strings.Lines(record.Data["objects"]) {
		words := strings.Fields(line)
		recorded = append(recorded, words[1]+"/"+namespace+"/"+words[2])
	}
	if diff := cmp.Diff(rendered, recorded); diff != "" || record.Data["pending"] != "" {
		t.Errorf("inventory (-want +got)\n%s%s", diff, record.Data["pending"])
	}
	var live []string
	var sets appsv1.StatefulSetList
	var services corev1.ServiceList
	if err := errors.Join(c.List(t.Context(), &sets, client.InNamespace(namespace)), c.List(t.Context(), &services, client.InNamespace(namespace))); err != nil {
		t.Fatal(err)
	}
	for _, o := range sets.Items {
		live = append(live, "StatefulSet/"+namespace+"/"+o.Name)
	}
	for _, o := range services.Items {
		live = append(live, "Service/"+namespace+"/"+o.Name)
	}
	want := slices.DeleteFunc(slices.Clone(rendered), func(id string) bool {
		return !strings.HasPrefix(id, "StatefulSet/") && !strings.HasPrefix(id, "Service/")
	})
	slices.Sort(live)
	slices.Sort(want)
	if diff := cmp.Diff(want, live); diff != "" {
		t.Errorf("live (-want +got)\n%s", diff)
	}
}
