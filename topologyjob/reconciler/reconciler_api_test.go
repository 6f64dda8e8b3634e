// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/internal/apitest"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/job"
	"github.com/valkey-render/valkey-render/topologyjob/outcome"
)

func (r *rig) jobs() []batchv1.Job {
	r.Helper()
	var list batchv1.JobList
	if err := r.admin.List(r.Context(), &list, client.InNamespace(r.namespace)); err != nil {
		r.Fatal(err)
	}
	return list.Items
}

// limited is a user that may do exactly what Rights says, in the rig's namespace.
func (r *rig) limited() *rest.Config {
	r.Helper()
	for _, o := range []client.Object{
		&rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: "reconciler"}, Rules: Rights()},
		&rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: "reconciler"},
			Subjects:   []rbacv1.Subject{{Kind: "User", APIGroup: "rbac.authorization.k8s.io", Name: r.namespace}},
			RoleRef:    rbacv1.RoleRef{Kind: "Role", APIGroup: "rbac.authorization.k8s.io", Name: "reconciler"},
		},
	} {
		if err := r.admin.Create(r.Context(), o); err != nil {
			r.Fatal(err)
		}
	}
	config := rest.CopyConfig(apitest.Config(r))
	config.Impersonate.UserName = r.namespace
	return config
}

// TestAPIServerAClusterIsFormedOnce with the rights of the chart and no others.
func TestAPIServerAClusterIsFormedOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.nodes()
	key := r.cluster("cache", 3)
	r.reconcile(r.limited(), 0)
	r.state(key, v1alpha1.StateReady)
	s := r.seen(key)
	if s.JobSerial != 1 || s.ReadyShards != 3 || !s.ClusterInitialized {
		t.Errorf("%+v", s)
	}
	for _, called := range []string{name.AuthSecret("cache"), name.SystemSecret("cache"), name.ACLSecret("cache")} {
		if n := r.wrote("create *v1.Secret " + called); n != 1 {
			t.Errorf("Secret %s was created %d times", called, n)
		}
	}
	if n := r.wrote("create *v1.Job"); n != 1 {
		t.Errorf("%d Jobs were created", n)
	}
	j := r.jobs()[0]
	if *j.Spec.Template.Spec.AutomountServiceAccountToken || *j.Spec.BackoffLimit != 0 || j.Annotations[job.AnnotationSerial] != "1" {
		t.Errorf("%+v", j)
	}
	var nodes v1alpha1.ValkeyNodeList
	if err := r.admin.List(t.Context(), &nodes, client.InNamespace(r.namespace)); err != nil || len(nodes.Items) != 6 {
		t.Errorf("%v, %d ValkeyNodes", err, len(nodes.Items))
	}
	r.rests(key)
}

// rests waits until a cluster was looked at several times in a row with nothing written.
func (r *rig) rests(key types.NamespacedName) {
	r.Helper()
	const looks = 4
	written, since := -1, 0
	r.until("rest", func() error {
		now := r.wrote("")
		r.model.mu.Lock()
		defer r.model.mu.Unlock()
		if now != written {
			written, since = now, r.model.surveys[key]
		}
		if n := r.model.surveys[key] - since; n < looks {
			return fmt.Errorf("%d looks without a write", n)
		}
		return nil
	})
}

// TestAPIServerACrashAfterAnyWriteStartsNoSecondJob: the reconciler is killed after its
// first write, after its second, and so on; the next one always goes on.
func TestAPIServerACrashAfterAnyWriteStartsNoSecondJob(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.nodes()
	key := r.cluster("cache", 1)
	config := apitest.Config(t)
	passwords := ""
	for writes := 1; ; writes++ {
		stop, crashed := r.reconcile(config, 1)
		done := false
		r.until("crash or Ready", func() error {
			select {
			case <-crashed:
				return nil
			default:
			}
			if s := r.seen(key); s.State == v1alpha1.StateReady && len(s.ActiveJobs) == 0 {
				done = true
				return nil
			}
			return fmt.Errorf("neither, after %d writes", writes)
		})
		stop()
		secret := &corev1.Secret{}
		err := r.admin.Get(t.Context(), types.NamespacedName{Namespace: r.namespace, Name: name.SystemSecret("cache")}, secret)
		if client.IgnoreNotFound(err) != nil {
			t.Fatal(err)
		}
		if now := string(secret.Data[name.UserOperator+".current"]); passwords != "" && now != passwords {
			t.Fatal("the password was replaced")
		} else if err == nil {
			passwords = now
		}
		if done {
			break
		}
		if writes > 60 {
			t.Fatalf("no end: %s", strings.Join(r.writes, "; "))
		}
	}
	if n := r.wrote("create *v1.Job"); n != 1 {
		t.Errorf("%d Jobs were created: %s", n, strings.Join(r.writes, "; "))
	}
}

// TestAPIServerAFailedJobIsFollowed by another after a pause, and deleting it, or asking for
// a retry, begins anew.
func TestAPIServerAFailedJobIsFollowed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.ends(outcome.Failed)
	r.nodes()
	key := r.cluster("cache", 1)
	r.reconcile(apitest.Config(t), 0)
	attempt := func(serial, want string) {
		t.Helper()
		r.until("Job "+serial, func() error {
			for _, j := range r.jobs() {
				if j.Annotations[job.AnnotationSerial] == serial {
					if got := j.Annotations[job.AnnotationAttempt]; got != want {
						t.Fatalf("Job %s is attempt %s, want %s", serial, got, want)
					}
					return nil
				}
			}
			return fmt.Errorf("not there")
		})
	}
	attempt("1", "1")
	attempt("2", "2")
	c := &v1alpha1.ValkeyCluster{}
	if err := r.admin.Get(t.Context(), key, c); err != nil {
		t.Fatal(err)
	}
	next := c.DeepCopy()
	next.Annotations[v1alpha1.AnnotationRetry] = "now"
	if err := r.admin.Patch(t.Context(), next, client.MergeFrom(c)); err != nil {
		t.Fatal(err)
	}
	r.ends(outcome.Converged)
	r.state(key, v1alpha1.StateReady)
	attempt("3", "1")
}

// TestAPIServerWhatIsDeletedIsNoticed: ValkeyNodes and pods come back; passwords that running
// servers have do not, until no server runs with them.
func TestAPIServerWhatIsDeletedIsNoticed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.nodes()
	key := r.cluster("cache", 1)
	r.reconcile(apitest.Config(t), 0)
	r.state(key, v1alpha1.StateReady)
	n := &v1alpha1.ValkeyNode{ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: name.Pod("cache", 0, 1)}}
	if err := r.admin.Delete(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	r.until("the ValkeyNode is back", func() error {
		return r.admin.Get(t.Context(), client.ObjectKeyFromObject(n), &v1alpha1.ValkeyNode{})
	})
	set := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: name.Pod("cache", 0, 1)}}
	if err := r.admin.Delete(t.Context(), set, client.GracePeriodSeconds(0)); err != nil {
		t.Fatal(err)
	}
	r.state(key, v1alpha1.StateReady)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: name.SystemSecret("cache")}}
	for _, o := range []client.Object{secret, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: name.ACLSecret("cache")}}} {
		if err := r.admin.Delete(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	r.until("Degraded", func() error {
		if s := r.seen(key); s.State == v1alpha1.StateReady {
			return fmt.Errorf("%s", s.State)
		}
		return nil
	})
	if err := r.admin.Get(t.Context(), client.ObjectKeyFromObject(secret), secret); !apierrors.IsNotFound(err) {
		t.Errorf("servers run, and the Secret was made anew: %v", err)
	}
	if err := r.admin.DeleteAllOf(t.Context(), &corev1.Pod{}, client.InNamespace(r.namespace), client.GracePeriodSeconds(0)); err != nil {
		t.Fatal(err)
	}
	r.until("the Secret", func() error { return r.admin.Get(t.Context(), client.ObjectKeyFromObject(secret), secret) })
}

// TestAPIServerAValkeyACLIsAnswered: of a cluster that is there, and of one that is not.
func TestAPIServerAValkeyACLIsAnswered(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.nodes()
	key := r.cluster("cache", 1)
	for acl, cluster := range map[string]string{"right": "cache", "wrong": "cash"} {
		a := &v1alpha1.ValkeyACL{ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: acl}}
		a.Spec.ClusterRef.Name = cluster
		a.Spec.Users = []v1alpha1.UserSpec{{Name: acl, Nopass: true}}
		if err := r.admin.Create(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	r.reconcile(r.limited(), 0)
	r.state(key, v1alpha1.StateReady)
	for acl, want := range map[string]string{"right": v1alpha1.ReasonApplied, "wrong": v1alpha1.ReasonClusterNotReady} {
		r.until("ValkeyACL "+acl, func() error {
			a := &v1alpha1.ValkeyACL{}
			if err := r.admin.Get(t.Context(), types.NamespacedName{Namespace: r.namespace, Name: acl}, a); err != nil {
				return err
			}
			for _, c := range a.Status.Conditions {
				if c.Reason == want {
					return nil
				}
			}
			return fmt.Errorf("%+v", a.Status)
		})
	}
}

// annotate sets annotations of an object.
func (r *rig) annotate(o client.Object, annotations map[string]string) {
	r.Helper()
	if err := r.admin.Get(r.Context(), client.ObjectKeyFromObject(o), o); err != nil {
		r.Fatal(err)
	}
	next := o.DeepCopyObject().(client.Object)
	all := map[string]string{}
	maps.Copy(all, o.GetAnnotations())
	maps.Copy(all, annotations)
	next.SetAnnotations(all)
	if err := r.admin.Patch(r.Context(), next, client.MergeFrom(o)); err != nil {
		r.Fatal(err)
	}
}

// TestAPIServerWhatIsRenderedArrivesInParts: the ValkeyCluster of another rendering comes
// before its objects, and is not Ready until all of them have come.
func TestAPIServerWhatIsRenderedArrivesInParts(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.nodes()
	key := r.cluster("cache", 1)
	r.reconcile(r.limited(), 0)
	r.state(key, v1alpha1.StateReady)
	c := &v1alpha1.ValkeyCluster{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	objects := func(rendering string) {
		t.Helper()
		for _, o := range name.Rendered(c) {
			live := metadata("v1", o.Kind)
			switch o.Kind {
			case name.KindStatefulSet:
				live = metadata("apps/v1", o.Kind)
			case name.KindBudget:
				live = metadata("policy/v1", o.Kind)
			}
			live.Namespace, live.Name = key.Namespace, o.Name
			r.annotate(live, map[string]string{v1alpha1.AnnotationRenderHash: rendering + o.Name})
		}
	}
	cluster := func(rendering string) {
		t.Helper()
		hash := name.ObjectsHash(c, func(o name.Object) string { return rendering + o.Name })
		r.annotate(c, map[string]string{v1alpha1.AnnotationRenderHash: rendering, v1alpha1.AnnotationObjectsHash: hash})
	}
	is := func(state v1alpha1.ClusterState, rendering string) {
		t.Helper()
		r.until(string(state)+" of rendering "+rendering, func() error {
			if s := r.seen(key); s.State != state || s.RenderHash != rendering {
				return fmt.Errorf("%s %s: %s, rendering %q", s.State, s.Reason, s.Message, s.RenderHash)
			}
			return nil
		})
	}
	if err := r.admin.Get(t.Context(), key, c); err != nil {
		t.Fatal(err)
	}
	objects("1")
	cluster("1")
	is(v1alpha1.StateReady, "1")
	cluster("2")
	is(v1alpha1.StateReconciling, "1")
	objects("2")
	is(v1alpha1.StateReady, "2")
}

// TestAPIServerAPatchOfAnotherPodIsNone: a role is for the pod that was looked at.
func TestAPIServerAPatchOfAnotherPodIsNone(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.cluster("cache", 1)
	key := types.NamespacedName{Namespace: r.namespace, Name: name.Pod("cache", 0, 0)}
	pod := &corev1.Pod{}
	r.until("the pod", func() error { return r.admin.Get(t.Context(), key, pod) })
	work := &Reconciler{Client: r.admin}
	label := func(uid string) string {
		t.Helper()
		if _, err := work.patchPod(t.Context(), r.namespace, pod.Name, uid, "labels", name.LabelRole, "primary"); err != nil {
			t.Error(err)
		}
		if err := r.admin.Get(t.Context(), key, pod); err != nil {
			t.Fatal(err)
		}
		return pod.Labels[name.LabelRole]
	}
	if got := label("another"); got != "" {
		t.Errorf("another pod became the %s", got)
	}
	if got := label(string(pod.UID)); got != "primary" {
		t.Errorf("the pod itself is %q", got)
	}
}
