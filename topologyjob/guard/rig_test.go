// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package guard_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/valkey-render/valkey-render/internal/apitest"
	"github.com/valkey-render/valkey-render/render"
	"github.com/valkey-render/valkey-render/render/load"
	"github.com/valkey-render/valkey-render/topologyjob/guard"
)

// patience is how long the server may take to know of a change: it reads policies
// once a second, and ValkeyClusters by a watch.
const patience = 3 * time.Minute

// rig is a namespace of a real server.
type rig struct {
	t         testing.TB
	client    client.Client
	namespace string
}

func newRig(t testing.TB) *rig {
	t.Helper()
	return &rig{t, apitest.Client(t), apitest.Namespace(t)}
}

// install puts the guard of a file into force, until the test is over.
func install(t testing.TB, file string) {
	t.Helper()
	c := apitest.Client(t)
	for _, o := range documents(t, file) {
		t.Cleanup(func() { _ = c.Delete(context.Background(), o.DeepCopy()) })
		if err := c.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(o.DeepCopy()), client.FieldOwner("kubectl"), client.ForceOwnership); err != nil {
			t.Fatal(err)
		}
	}
}

// uninstall takes it away.
func uninstall(t testing.TB, file string) {
	t.Helper()
	c := apitest.Client(t)
	for _, o := range documents(t, file) {
		if err := c.Delete(t.Context(), o.DeepCopy()); client.IgnoreNotFound(err) != nil {
			t.Fatal(err)
		}
	}
}

// user is a client of somebody else.
func user(t testing.TB, called string, groups ...string) client.Client {
	t.Helper()
	config := apitest.Config(t)
	config.Impersonate = rest.ImpersonationConfig{UserName: called, Groups: append(groups, "system:authenticated")}
	c, err := client.New(config, client.Options{Log: funcr.New(func(string, string) {}, funcr.Options{})})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// valkeyCluster is a spec by its fields.
func valkeyCluster(called, spec string) string {
	return "apiVersion: valkey-render.dev/v1alpha1\nkind: ValkeyCluster\nmetadata: {name: " + called + ", namespace: shop}\nspec: " + spec + "\n"
}

// rendered are the objects of a spec, in the order in which they are applied.
func (r *rig) rendered(spec string) []*unstructured.Unstructured {
	r.t.Helper()
	set, findings := load.Parse([]load.Source{{Name: "spec.yaml", Data: []byte(spec)}}, load.Options{Namespace: r.namespace, OverrideNamespace: true})
	if err := findings.Err(); err != nil {
		r.t.Fatal(err)
	}
	result := render.Build(set, render.Options{})
	if err := result.Findings.Err(); err != nil {
		r.t.Fatal(err)
	}
	return result.Objects
}

// apply applies of a spec what the guard is about.
func (r *rig) apply(c client.Client, spec string, kinds ...string) error {
	r.t.Helper()
	for _, o := range r.rendered(spec) {
		if !strings.Contains(strings.Join(kinds, " "), o.GetKind()) {
			continue
		}
		if err := c.Apply(r.t.Context(), client.ApplyConfigurationFromUnstructured(o), client.FieldOwner("valkey-render"), client.ForceOwnership); err != nil {
			return err
		}
	}
	return nil
}

// live applies all of a spec that the guard is about, and the Secrets of its cluster.
func (r *rig) live(spec string) {
	r.t.Helper()
	r.must(r.apply(r.client, spec, "ValkeyCluster", "PersistentVolumeClaim", "StatefulSet"))
	cluster := r.rendered(spec)[0].GetName()
	for _, ending := range []string{"-system", "-acl", "-auth", "-users"} {
		r.must(r.client.Create(r.t.Context(), r.secret(cluster+ending)))
	}
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) meta(called string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: r.namespace, Name: called}
}

func (r *rig) set(called string) *appsv1.StatefulSet {
	return &appsv1.StatefulSet{ObjectMeta: r.meta(called)}
}

func (r *rig) claim(called string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{ObjectMeta: r.meta(called)}
}

func (r *rig) secret(called string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: r.meta(called)}
}

func (r *rig) cluster(called string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion("valkey-render.dev/v1alpha1")
	o.SetKind("ValkeyCluster")
	o.SetNamespace(r.namespace)
	o.SetName(called)
	return o
}

// patch is a merge patch.
func patch(text string) client.Patch {
	return client.RawPatch("application/merge-patch+json", []byte(text))
}

// change patches an object.
func (r *rig) change(o client.Object, text string) {
	r.t.Helper()
	r.must(r.client.Patch(r.t.Context(), o, patch(text)))
}

// status patches the status of a ValkeyCluster, as only the reconciler may.
func (r *rig) status(called, text string) {
	r.t.Helper()
	r.must(r.client.Status().Patch(r.t.Context(), r.cluster(called), patch(`{"status":`+text+`}`)))
}

func (r *rig) drained(called, shards string) { r.status(called, `{"drainedShards":[`+shards+`]}`) }

// until waits for a condition.
func until(t testing.TB, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !done(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("after %s: not %s", patience, what)
		}
	}
}

// settled waits until the server would do what is asked, or until it would deny it,
// by dry runs: it learns of changes a moment later.
func (r *rig) settled(denied bool, c client.Client, act func(*rig, client.Client) error) {
	r.t.Helper()
	var last error
	until(r.t, fmt.Sprintf("denied=%t", denied), func() bool {
		last = act(r, client.NewDryRunClient(c))
		return (last != nil) == denied
	})
}

// gone waits until an object no longer exists.
func (r *rig) gone(o client.Object) {
	r.t.Helper()
	until(r.t, o.GetName()+" gone", func() bool {
		err := r.client.Get(r.t.Context(), client.ObjectKeyFromObject(o), o)
		if client.IgnoreNotFound(err) != nil {
			r.t.Fatal(err)
		}
		return err != nil
	})
}

// wayOut does what the last command of a message says, and reports whether it has one.
func (r *rig) wayOut(message string) bool {
	r.t.Helper()
	commands := regexp.MustCompile(`kubectl -n (\S+) (patch|label) (valkeycluster|statefulset) (\S+) (--type merge -p '([^']+)'|(\S+)=(\S+))$`)
	m := commands.FindStringSubmatch(message)
	if m == nil {
		return false
	}
	if m[1] != r.namespace {
		r.t.Errorf("the command is about namespace %s", m[1])
	}
	switch m[2] + " " + m[3] {
	case "patch valkeycluster":
		r.change(r.cluster(m[4]), m[6])
	case "label statefulset":
		r.change(r.set(m[4]), fmt.Sprintf(`{"metadata":{"labels":{%q:%q}}}`, m[7], m[8]))
	default:
		r.t.Errorf("no such command: %s", m[0])
	}
	return true
}

// isDenied checks that an answer is a denial of one of our policies, with the words.
func (r *rig) isDenied(err error, policy, words string) {
	r.t.Helper()
	words = strings.ReplaceAll(words, "NS", r.namespace)
	switch {
	case err == nil:
		r.t.Errorf("not denied, want %s", words)
	case !apierrors.IsForbidden(err):
		r.t.Errorf("the reason is %s: %v", apierrors.ReasonForError(err), err)
	case !strings.Contains(err.Error(), "ValidatingAdmissionPolicy '"+guard.Prefix+policy+"' with binding '"+guard.Prefix+policy+"' denied request: "+words):
		r.t.Errorf("denied with\n%v\nwant of %s\n%s", err, policy, words)
	}
}
