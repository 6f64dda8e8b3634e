// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	"sigs.k8s.io/yaml"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/internal/golden"
)

func newCluster(change func(*v1alpha1.ValkeyCluster)) *v1alpha1.ValkeyCluster {
	c := &v1alpha1.ValkeyCluster{}
	c.Name, c.Namespace, c.Spec.Jobs = "cache", "shop", v1alpha1.JobsRendered
	if change != nil {
		change(c)
	}
	c.Default()
	return c
}

func render(t testing.TB, c *v1alpha1.ValkeyCluster, acls ...*v1alpha1.ValkeyACL) Rendered {
	t.Helper()
	r, err := Render(c, acls, Image("v1.2.3"))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// named is the name of the first Job once it is named.
func named(t testing.TB, r Rendered) string {
	t.Helper()
	n, err := Rename(r.Jobs[0].Name, r.Jobs[0].Spec)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestRenderedJobs(t *testing.T) {
	cases := map[string]func(*v1alpha1.ValkeyCluster){
		"standalone": func(c *v1alpha1.ValkeyCluster) { c.Spec.Topology = v1alpha1.TopologyStandalone },
		"cluster-with-tls": func(c *v1alpha1.ValkeyCluster) {
			c.Spec.TLS = &v1alpha1.TLSSpec{}
			c.Spec.Users = []v1alpha1.UserSpec{{Name: "app"}}
			c.Annotations = map[string]string{v1alpha1.AnnotationRetry: "2", "other": "x"}
		},
	}
	for _, dir := range golden.Cases(t, "testdata") {
		r := render(t, newCluster(cases[dir]))
		files := map[string][]byte{}
		for called, object := range map[string]any{"role.yaml": r.Role, "account.yaml": r.Account, "binding.yaml": r.Binding} {
			data, err := yaml.Marshal(object)
			if err != nil {
				t.Fatal(err)
			}
			files[called] = data
		}
		for _, j := range r.Jobs {
			data, err := yaml.Marshal(j)
			if err != nil {
				t.Fatal(err)
			}
			files[j.Labels["app.kubernetes.io/component"]+"-"+j.Name+".yaml"] = data
		}
		golden.Dir(t, filepath.Join("testdata", dir), files)
		delete(cases, dir)
	}
	if len(cases) > 0 {
		t.Errorf("no golden files for %v", cases)
	}
}

// TestARestrictedNamespaceTakesEveryJob, whoever starts it.
func TestARestrictedNamespaceTakesEveryJob(t *testing.T) {
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	jobs := render(t, newCluster(nil)).Jobs
	jobs = append(jobs, New(Params{Cluster: newCluster(nil), Kind: "rebalance", Name: "cache-rebalance-7", Image: "x", Deadline: time.Minute, System: true}))
	for _, kind := range []string{KindLiveConfig, KindACL, KindTLS, KindRotate} {
		jobs = append(jobs, New(Params{Cluster: newCluster(nil), Kind: kind, Name: "cache-" + kind + "-7", Image: "x", Deadline: time.Minute, System: true}))
	}
	for _, j := range jobs {
		restricted := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
		for _, result := range evaluator.EvaluatePod(restricted, &metav1.ObjectMeta{}, &j.Spec.Template.Spec) {
			if !result.Allowed {
				t.Errorf("%s: %s: %s", j.Name, result.ForbiddenReason, result.ForbiddenDetail)
			}
		}
		if !*j.Spec.Template.Spec.Containers[0].SecurityContext.ReadOnlyRootFilesystem {
			t.Errorf("%s: may write to its root", j.Name)
		}
	}
}

func TestOnlyJobsWithAnAccountHaveAToken(t *testing.T) {
	for _, j := range render(t, newCluster(nil)).Jobs {
		pod := j.Spec.Template.Spec
		isSecrets := strings.HasPrefix(j.Name, "cache-secrets-")
		if *pod.AutomountServiceAccountToken != isSecrets || (pod.ServiceAccountName != "") != isSecrets {
			t.Errorf("%s: token %t of %q", j.Name, *pod.AutomountServiceAccountToken, pod.ServiceAccountName)
		}
	}
}

// TestAJobOfTheReconciler: one pod, which is not followed by another, and cleaned up
// in the end.
func TestAJobOfTheReconciler(t *testing.T) {
	ttl := 24 * time.Hour
	j := New(Params{Cluster: newCluster(nil), Kind: "rebalance", Name: "cache-rebalance-7", Image: "x", Args: []string{"--shards=4"}, Deadline: time.Hour, TTL: &ttl})
	if *j.Spec.BackoffLimit != 0 || *j.Spec.PodReplacementPolicy != batchv1.Failed || *j.Spec.TTLSecondsAfterFinished != 86400 || *j.Spec.ActiveDeadlineSeconds < 3600 {
		t.Errorf("%+v", j.Spec)
	}
	want := []string{"run", "--kind=rebalance", "--deadline=3600s", "--shards=4"}
	if diff := cmp.Diff(want, j.Spec.Template.Spec.Containers[0].Args); diff != "" {
		t.Error(diff)
	}
}

// TestAKindReadsWhatItSets: the place of each file in the pod.
func TestAKindReadsWhatItSets(t *testing.T) {
	c := newCluster(func(c *v1alpha1.ValkeyCluster) { c.Spec.TLS = &v1alpha1.TLSSpec{} })
	for kind, want := range map[string]string{
		KindLiveConfig: "/valkey/live=cache-live /valkey/system=cache-system /valkey/tls=cache-tls",
		KindACL:        "/valkey/acl=cache-acl /valkey/system=cache-system /valkey/tls=cache-tls",
		KindRotate:     "/valkey/acl=cache-acl /valkey/system=cache-system /valkey/tls=cache-tls",
		KindTLS:        "/valkey/system=cache-system /valkey/tls=cache-tls",
		"repair":       "/valkey/system=cache-system /valkey/tls=cache-tls",
	} {
		pod := New(Params{Cluster: c, Kind: kind, Name: "x", Deadline: time.Minute, System: true}).Spec.Template.Spec
		source := map[string]string{}
		for _, v := range pod.Volumes {
			if v.ConfigMap != nil {
				source[v.Name] = v.ConfigMap.Name
			} else {
				source[v.Name] = v.Secret.SecretName
			}
		}
		var got []string
		for _, m := range pod.Containers[0].VolumeMounts {
			got = append(got, m.MountPath+"="+source[m.Name])
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%s reads %s", kind, text)
		}
	}
}

func TestTheTemplateOfTheSpec(t *testing.T) {
	c := newCluster(func(c *v1alpha1.ValkeyCluster) {
		c.Spec.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "servers"}}
		c.Spec.JobsTemplate = &v1alpha1.JobsTemplateSpec{
			NodeSelector: map[string]string{"a": "b"}, PriorityClassName: "high", Annotations: map[string]string{"inject": "no"},
			Tolerations: []corev1.Toleration{{Key: "x"}},
		}
	})
	pod := render(t, c).Jobs[0].Spec.Template
	if pod.Annotations["inject"] != "no" || pod.Spec.NodeSelector["a"] != "b" || pod.Spec.PriorityClassName != "high" || len(pod.Spec.Tolerations) != 1 || pod.Spec.ImagePullSecrets[0].Name != "servers" {
		t.Errorf("%+v", pod)
	}
	c.Spec.JobsTemplate.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "jobs"}}
	if got := render(t, c).Jobs[0].Spec.Template.Spec.ImagePullSecrets; len(got) != 1 || got[0].Name != "jobs" {
		t.Errorf("%v", got)
	}
}

// TestTheNameFollowsWhatDecidesTheSecrets, and nothing else of the spec.
func TestTheNameFollowsWhatDecidesTheSecrets(t *testing.T) {
	first := named(t, render(t, newCluster(nil)))
	if len(first) != len("cache-secrets-")+hashLength || !strings.HasPrefix(first, "cache-secrets-") {
		t.Fatal(first)
	}
	for what, test := range map[string]struct {
		change func(*v1alpha1.ValkeyCluster)
		same   bool
	}{
		"nothing":  {nil, true},
		"shards":   {func(c *v1alpha1.ValkeyCluster) { c.Spec.Shards = new(int32(5)) }, true},
		"config":   {func(c *v1alpha1.ValkeyCluster) { c.Spec.Config = map[string]string{"maxclients": "100"} }, true},
		"a user":   {func(c *v1alpha1.ValkeyCluster) { c.Spec.Users = []v1alpha1.UserSpec{{Name: "app"}} }, false},
		"the port": {func(c *v1alpha1.ValkeyCluster) { c.Spec.Networking = &v1alpha1.NetworkingSpec{Port: new(int32(7000))} }, false},
		"auth":     {func(c *v1alpha1.ValkeyCluster) { c.Spec.Auth = &v1alpha1.AuthSpec{Enabled: new(false)} }, false},
		"a retry":  {func(c *v1alpha1.ValkeyCluster) { c.Annotations = map[string]string{v1alpha1.AnnotationRetry: "1"} }, false},
		"priorities": {func(c *v1alpha1.ValkeyCluster) {
			c.Spec.JobsTemplate = &v1alpha1.JobsTemplateSpec{PriorityClassName: "x"}
		}, false},
	} {
		if got := named(t, render(t, newCluster(test.change))); (got == first) != test.same {
			t.Errorf("%s: %s after %s", what, got, first)
		}
	}
	a := &v1alpha1.ValkeyACL{}
	a.Name, a.Namespace, a.Spec.ClusterRef.Name = "more", "shop", "cache"
	b := a.DeepCopy()
	b.Name, b.Spec.ClusterRef.Name = "foreign", "other"
	if named(t, render(t, newCluster(nil), b)) != first || named(t, render(t, newCluster(nil), b, a)) == first {
		t.Error("the ValkeyACLs of the cluster do not count, or others do")
	}
	c := a.DeepCopy()
	c.Name = "again"
	if named(t, render(t, newCluster(nil), a, c)) != named(t, render(t, newCluster(nil), c, a)) {
		t.Error("the order of ValkeyACLs counts")
	}
}

func TestTheLongestNameFits(t *testing.T) {
	c := newCluster(func(c *v1alpha1.ValkeyCluster) { c.Name = strings.Repeat("a", v1alpha1.MaxClusterName) })
	for _, j := range render(t, c).Jobs {
		n, err := Rename(j.Name, j.Spec)
		// Kubernetes cuts the name of a Job at 58 for its pods, and has it as a label.
		if err != nil || len(n) > 58 {
			t.Errorf("%s has %d characters, %v", n, len(n), err)
		}
	}
}

func TestImageOfAVersion(t *testing.T) {
	for version, tag := range map[string]string{
		"": "dev", "(devel)": "dev", "v1.2.3": "v1.2.3", "v1.2.3-rc.1": "v1.2.3-rc.1", "1.2.3": "dev",
		"v0.0.0-20261130021500-0123456789ab": "dev", "v1.2.4-0.20261130021500-0123456789ab": "dev", "v1.2.3+dirty": "dev",
	} {
		if got := Image(version); got != Repository+":"+tag {
			t.Errorf("%q: %s", version, got)
		}
	}
}
