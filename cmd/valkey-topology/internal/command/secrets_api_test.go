// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/internal/apitest"
	"github.com/valkey-render/valkey-render/render/job"
	"github.com/valkey-render/valkey-render/topologyjob/outcome"
)

// asJob is a rendered secrets Job on a real server, without its pod.
type asJob struct {
	t        *testing.T
	admin    client.Client
	role     *rbacv1.Role
	files    memory
	config   *rest.Config
	filename string
}

// newAsJob applies what a cluster with users renders to, and logs in as its Job.
func newAsJob(t *testing.T) *asJob {
	t.Helper()
	admin, namespace := apitest.Client(t), apitest.Namespace(t)
	c := &v1alpha1.ValkeyCluster{}
	c.Name, c.Namespace = "cache", namespace
	c.Spec.Jobs, c.Spec.Topology = v1alpha1.JobsRendered, v1alpha1.TopologyStandalone
	c.Spec.Users = []v1alpha1.UserSpec{{Name: "app"}}
	c.Default()
	rendered, err := job.Render(c, nil, job.Image(""))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []client.Object{rendered.Account, rendered.Role, rendered.Binding} {
		if err := admin.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	created := rendered.Jobs[0].DeepCopy()
	if err := admin.Create(t.Context(), created, client.DryRunAll); err != nil {
		t.Fatal(err)
	}
	if policy := created.Spec.PodReplacementPolicy; policy == nil || *policy != batchv1.Failed {
		t.Errorf("podReplacementPolicy %v", policy)
	}
	token := &authenticationv1.TokenRequest{}
	if err := admin.SubResource("token").Create(t.Context(), rendered.Account, token); err != nil {
		t.Fatal(err)
	}
	a := &asJob{t: t, admin: admin, role: rendered.Role, files: memory{job.SpecFile: rendered.Jobs[0].Spec.Template.Annotations[v1alpha1.AnnotationSpec]}}
	a.config = rest.AnonymousClientConfig(apitest.Config(t))
	a.config.BearerToken = token.Status.Token
	if err := rest.LoadTLSFiles(a.config); err != nil {
		t.Fatal(err)
	}
	file := clientcmdapi.NewConfig()
	file.Clusters["a"] = &clientcmdapi.Cluster{Server: a.config.Host, CertificateAuthorityData: a.config.CAData}
	file.AuthInfos["a"] = &clientcmdapi.AuthInfo{Token: a.config.BearerToken}
	file.Contexts["a"] = &clientcmdapi.Context{Cluster: "a", AuthInfo: "a", Namespace: namespace}
	file.CurrentContext = "a"
	a.filename = filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*file, a.filename); err != nil {
		t.Fatal(err)
	}
	return a
}

// run runs the program as the Job does.
func (a *asJob) run(args ...string) (outcome.Outcome, *session) {
	a.t.Helper()
	args = append([]string{"run", "--kind=secrets", "--filename=" + job.SpecFile, "--kubeconfig", a.filename, "--output=json"}, args...)
	s := run(a.t, a.files, map[string]string{podNamespace: a.role.Namespace}, args...)
	o, err := outcome.Parse(s.out.Bytes())
	if err != nil {
		a.t.Fatalf("%v: %s", err, s.err.String())
	}
	return o, s
}

// until repeats a run until it ends as wanted: roles take a moment to count.
func (a *asJob) until(want outcome.Result, text string, args ...string) {
	a.t.Helper()
	var o outcome.Outcome
	for range 100 {
		if o, _ = a.run(args...); o.Result == want && strings.Contains(o.Message, text) {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	a.t.Fatalf("%+v", o)
}

func (a *asJob) users(data map[string]string) {
	a.t.Helper()
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: a.role.Namespace, Name: "cache-users"}, StringData: data}
	if err := a.admin.Create(a.t.Context(), s); err != nil {
		a.t.Fatal(err)
	}
}

func TestAPIServerTheJobWaitsForWhatItNeedsAndWritesOnce(t *testing.T) {
	a := newAsJob(t)
	a.until(outcome.Blocked, "cache-users: does not exist")
	if o, s := a.run("--deadline=1s"); o.Result != outcome.Deadline || o.Reason != "SecretMissing" || s.code != 124 {
		t.Errorf("%+v", o)
	}
	a.users(map[string]string{"app": "hunter2"})
	if o, s := a.run("--deadline=30s"); o.Result != outcome.Converged || o.Counts["created"] != 3 || strings.Contains(s.out.String()+s.err.String(), "hunter2") {
		t.Errorf("%+v", o)
	}
	if o, _ := a.run(); o.Result != outcome.Converged || o.Message != "nothing to do" {
		t.Errorf("again: %+v", o)
	}
	var system corev1.Secret
	if err := a.admin.Get(t.Context(), client.ObjectKey{Namespace: a.role.Namespace, Name: "cache-system"}, &system); err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(system.ManagedFields, func(m metav1.ManagedFieldsEntry) bool { return m.Manager == "valkey-reconciler" }) {
		t.Errorf("written by %+v", system.ManagedFields)
	}
	delete(system.Data, "exporter.json")
	if err := a.admin.Update(t.Context(), &system); err != nil {
		t.Fatal(err)
	}
	if o, _ := a.run("--dry-run"); !o.DryRun || o.Counts["updated"] != 1 {
		t.Errorf("dry run: %+v", o)
	}
	if o, _ := a.run(); o.Result != outcome.Converged || o.Counts["updated"] != 1 || o.Counts["created"] != 0 {
		t.Errorf("after a key was lost: %+v", o)
	}
}

// TestAPIServerTheRoleIsJustEnough: without any one of its rules the Job fails, and
// with all of them it may do nothing else.
func TestAPIServerTheRoleIsJustEnough(t *testing.T) {
	a := newAsJob(t)
	a.users(map[string]string{"app": "x"})
	rules := slices.Clone(a.role.Rules)
	set := func(rules []rbacv1.PolicyRule) {
		t.Helper()
		a.role.Rules = rules
		if err := a.admin.Update(t.Context(), a.role); err != nil {
			t.Fatal(err)
		}
	}
	drop := func(i int) { set(slices.Delete(slices.Clone(rules), i, i+1)) }
	drop(0)
	a.until(outcome.Failed, "cannot get resource \"secrets\"")
	drop(2)
	a.until(outcome.Failed, "cannot create resource \"secrets\"")
	set(rules)
	a.until(outcome.Converged, "created")
	drop(1)
	acl := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: a.role.Namespace, Name: "cache-acl"}}
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"data":{"9.1.acl":null}}`))
	if err := a.admin.Patch(t.Context(), acl, patch); err != nil {
		t.Fatal(err)
	}
	a.until(outcome.Failed, "cannot update resource \"secrets\"")
	set(rules)
	a.until(outcome.Converged, "cache-acl updated")
	a.denied()
}

// denied tries what the Job has no business with.
func (a *asJob) denied() {
	t := a.t
	t.Helper()
	own, err := client.New(a.config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	secret := func(called string) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: a.role.Namespace, Name: called}, StringData: map[string]string{"a": "b"}}
	}
	for what, err := range map[string]error{
		"another Secret":          own.Get(t.Context(), client.ObjectKey{Namespace: a.role.Namespace, Name: "other"}, &corev1.Secret{}),
		"all Secrets":             own.List(t.Context(), &corev1.SecretList{}, client.InNamespace(a.role.Namespace)),
		"writing a user's Secret": own.Update(t.Context(), secret("cache-users")),
		"deleting its own":        own.Delete(t.Context(), secret("cache-acl")),
		"another namespace":       own.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "x"}}),
		"pods":                    own.List(t.Context(), &corev1.PodList{}, client.InNamespace(a.role.Namespace)),
		"patching its own":        own.Patch(t.Context(), secret("cache-acl"), client.RawPatch("application/merge-patch+json", []byte(`{}`))),
	} {
		if !apierrors.IsForbidden(err) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
