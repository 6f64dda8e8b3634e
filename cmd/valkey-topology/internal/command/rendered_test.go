// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/job"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/acl"
	"github.com/valkey-render/valkey-render/topologyjob/outcome"
	"github.com/valkey-render/valkey-render/topologyjob/secret"
)

// drawSpec is a cluster with jobs: Rendered and its ValkeyACLs, whatever has to do
// with Secrets or not.
func drawSpec(t *rapid.T) (*v1alpha1.ValkeyCluster, []*v1alpha1.ValkeyACL) {
	c := &v1alpha1.ValkeyCluster{}
	c.Name, c.Namespace = "cache", "shop"
	c.Spec.Jobs = v1alpha1.JobsRendered
	c.Spec.Topology = rapid.SampledFrom([]v1alpha1.Topology{v1alpha1.TopologyCluster, v1alpha1.TopologyStandalone}).Draw(t, "topology")
	switch rapid.IntRange(0, 2).Draw(t, "auth") {
	case 1:
		c.Spec.Auth = &v1alpha1.AuthSpec{Enabled: new(false)}
	case 2:
		c.Spec.Auth = &v1alpha1.AuthSpec{ExistingSecret: &v1alpha1.SecretKeyRef{Name: "mine", Key: "pw"}}
	}
	if rapid.Bool().Draw(t, "tls") {
		c.Spec.TLS = &v1alpha1.TLSSpec{SecretName: "certificate"}
	}
	if rapid.Bool().Draw(t, "port") {
		c.Spec.Networking = &v1alpha1.NetworkingSpec{Port: new(int32(7000)), ClusterDomain: "kube.prod"}
	}
	if rapid.Bool().Draw(t, "modules") {
		c.Spec.Modules = []v1alpha1.ModuleSpec{{Name: "json", Image: "example.com/json:1", Path: "/json.so"}}
	}
	c.Spec.Version = rapid.SampledFrom(v1alpha1.Versions()).Draw(t, "version")
	c.Spec.Metrics = &v1alpha1.MetricsSpec{Enabled: rapid.Bool().Draw(t, "metrics")}
	c.Spec.Users = drawUsers(t, "app", "job")
	c.Default()
	a := &v1alpha1.ValkeyACL{}
	a.Name, a.Namespace, a.Spec.ClusterRef.Name = "more", "shop", rapid.SampledFrom([]string{"cache", "other"}).Draw(t, "cluster")
	if a.Spec.Users = drawUsers(t, "web"); len(a.Spec.Users) == 0 {
		return c, nil
	}
	a.Default()
	return c, []*v1alpha1.ValkeyACL{a}
}

func drawUsers(t *rapid.T, names ...string) []v1alpha1.UserSpec {
	var out []v1alpha1.UserSpec
	for _, n := range names {
		u := v1alpha1.UserSpec{Name: n, Keys: &v1alpha1.UserKeys{ReadWrite: []string{n + ":*"}}}
		switch rapid.IntRange(0, 4).Draw(t, "user") {
		case 0:
			continue
		case 1:
			u.Nopass = true
		case 2:
			u.Enabled = new(false)
		case 3:
			u.PasswordSecret = &v1alpha1.UserPasswordSecret{Name: "own", Keys: []string{"a", "b"}}
		}
		out = append(out, u)
	}
	return out
}

// TestARenderedJobKnowsAllItNeeds: what it was given leads to the very Secrets that
// the whole spec leads to, and its Role lets it see and write just those.
func TestARenderedJobKnowsAllItNeeds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, acls := drawSpec(t)
		rendered, err := job.Render(c, acls, "x")
		if err != nil {
			t.Fatal(err)
		}
		input := rendered.Jobs[0].Spec.Template.Annotations[v1alpha1.AnnotationSpec]
		from := specs{files: []string{job.SpecFile}}
		less, lessACLs, err := from.read(memory{job.SpecFile: input}, "")
		if err != nil {
			t.Fatalf("%v\n%s", err, input)
		}
		all, err := secret.Names(c, acls)
		if err != nil {
			t.Fatal(err)
		}
		names, err := secret.Names(less, lessACLs)
		if err != nil || !slices.Equal(all, names) {
			t.Fatalf("%v, not %v, %v", names, all, err)
		}
		live := map[string]*corev1.Secret{}
		for _, n := range all {
			if !slices.Contains(secret.Owned(c), n) {
				live[n] = &corev1.Secret{Data: map[string][]byte{"pw": []byte("1"), "app": []byte("2"), "job": []byte("3"), "web": []byte("4"), "a": []byte("5"), "b": []byte("6")}}
			}
		}
		want, err := secret.Decide(secret.Input{Cluster: c, ACLs: acls, Live: live, Random: rand.NewChaCha8([32]byte{})})
		if err != nil {
			t.Fatal(err)
		}
		got, err := secret.Decide(secret.Input{Cluster: less, ACLs: lessACLs, Live: live, Random: rand.NewChaCha8([32]byte{})})
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Fatalf("%v (-whole spec +Job)\n%s", err, diff)
		}
		rules := rendered.Role.Rules
		sorted := func(names []string) []string { return slices.Sorted(slices.Values(names)) }
		if !slices.Equal(rules[0].ResourceNames, sorted(all)) || !slices.Equal(rules[1].ResourceNames, sorted(secret.Owned(c))) {
			t.Fatalf("rules %v, Secrets %v", rules, all)
		}
		if len(rules) != 3 || !slices.Equal(rules[2].Verbs, []string{"create"}) {
			t.Fatalf("rules %v", rules)
		}
	})
}

// TestJobsKnowTheExitCodeOfBadInput: render/job may not import it. A pod that the
// cluster took away is forgiven whatever it ended with.
func TestJobsKnowTheExitCodeOfBadInput(t *testing.T) {
	rules := job.New(job.Params{Cluster: &v1alpha1.ValkeyCluster{}}).Spec.PodFailurePolicy.Rules
	if rules[0].Action != batchv1.PodFailurePolicyActionIgnore || rules[0].OnPodConditions[0].Type != corev1.DisruptionTarget {
		t.Errorf("first %+v", rules[0])
	}
	if got := rules[1].OnExitCodes.Values; rules[1].Action != batchv1.PodFailurePolicyActionFailJob || !slices.Equal(got, []int32{outcome.ExitBadInput}) {
		t.Errorf("then %+v", rules[1])
	}
}

// TestARenderedConvergeJobIsUnderstood: its arguments, its input and its files say
// which pods there are, and how to log in.
func TestARenderedConvergeJobIsUnderstood(t *testing.T) {
	c := &v1alpha1.ValkeyCluster{}
	c.Name, c.Namespace = "cache", "shop"
	c.Spec.Jobs, c.Spec.Shards, c.Spec.Users = v1alpha1.JobsRendered, new(int32(4)), []v1alpha1.UserSpec{{Name: "app"}}
	c.Default()
	rendered, err := job.Render(c, nil, "x")
	if err != nil {
		t.Fatal(err)
	}
	template := rendered.Jobs[1].Spec.Template
	files := memory{job.SpecFile: template.Annotations[v1alpha1.AnnotationSpec], job.SystemDir + "/" + name.UserOperator + acl.CurrentSuffix: "x"}
	var r runner
	cmd := &cobra.Command{}
	// Those of the run itself are another matter.
	cmd.FParseErrWhitelist.UnknownFlags = true
	r.specs.addTo(cmd)
	r.target.addTo(cmd)
	if err := cmd.ParseFlags(template.Spec.Containers[0].Args); err != nil {
		t.Fatal(err)
	}
	aim, err := r.target.resolve(files, &r.specs, "")
	if err != nil || len(aim.pods) != 8 || aim.pods[7].Host != "cache-3-1.cache-nodes.shop.svc.cluster.local." || aim.desired.Shards != 4 {
		t.Errorf("%v, %+v", err, aim)
	}
	if _, found := lookup(job.KindConverge); !found {
		t.Error("there is no such kind")
	}
	for _, file := range []string{acl.CurrentSuffix, acl.NextSuffix} {
		if want := "--password-file=" + job.SystemDir + "/" + name.UserOperator + file; !slices.Contains(template.Spec.Containers[0].Args, want) {
			t.Errorf("no %s", want)
		}
	}
}
