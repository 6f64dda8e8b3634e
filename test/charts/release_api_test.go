// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package charts

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/kube"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/valkey-render/valkey-render/api/crd"
	"github.com/valkey-render/valkey-render/internal/apitest"
)

// patience is how long a controller or the server may take.
const patience = 3 * time.Minute

// site is a real server without our definitions.
type site struct {
	*testing.T
	client client.Client
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{t, apitest.Client(t)}
	for _, text := range crd.All() {
		o := documents(t, text)[0]
		// The guard of a test before this one is out of force a moment after it is gone.
		s.until("rid of "+o.GetName(), func() bool {
			return client.IgnoreNotFound(s.client.Delete(s.Context(), o)) == nil && !s.exists(o.DeepCopy())
		})
	}
	return s
}

func (s *site) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *site) until(what string, done func() bool) {
	s.Helper()
	for end := time.Now().Add(patience); !done(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			s.Fatalf("after %s: not %s", patience, what)
		}
	}
}

// exists reports whether an object is there, and reads it.
func (s *site) exists(o client.Object) bool {
	s.Helper()
	err := s.client.Get(context.WithoutCancel(s.Context()), client.ObjectKeyFromObject(o), o)
	if meta.IsNoMatchError(err) {
		return false
	}
	s.must(client.IgnoreNotFound(err))
	return err == nil
}

func object(apiVersion, kind, namespace, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(apiVersion)
	o.SetKind(kind)
	o.SetNamespace(namespace)
	o.SetName(name)
	return o
}

func definition() *unstructured.Unstructured {
	return object("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "valkeyclusters.valkey-render.dev")
}

// durable makes a ValkeyCluster that the guard holds.
func (s *site) durable(namespace, name string) *unstructured.Unstructured {
	s.Helper()
	o := object("valkey-render.dev/v1alpha1", "ValkeyCluster", namespace, name)
	o.Object["spec"] = map[string]any{"profile": "Durable", "storage": map[string]any{"size": "1Gi"}}
	s.until("served", func() bool {
		err := s.client.Create(s.Context(), o)
		if err != nil && !meta.IsNoMatchError(err) && !apierrors.IsNotFound(err) {
			s.Fatal(err)
		}
		return err == nil
	})
	return o
}

// helm is Helm 4 with one release.
type helm struct {
	*site
	named
	chart  string
	config *action.Configuration
}

func (s *site) helm(chart, name, namespace string) *helm {
	s.Helper()
	kubeconfig := apitest.Kubeconfig(s)
	flags := genericclioptions.NewConfigFlags(false)
	flags.KubeConfig, flags.Namespace = &kubeconfig, &namespace
	flags.WrapConfigFn = func(c *rest.Config) *rest.Config {
		c.QPS = -1
		c.WarningHandler = rest.NoWarnings{}
		return c
	}
	config := action.NewConfiguration(action.ConfigurationSetLogger(slog.DiscardHandler))
	s.must(config.Init(flags, namespace, "secret"))
	h := &helm{s, named{name: name, namespace: namespace}, chart, config}
	// A guard that stays would hold other tests.
	s.Cleanup(func() { _ = h.uninstall() })
	return h
}

func (h *helm) install(text string, options ...func(*action.Install)) error {
	h.Helper()
	a := action.NewInstall(h.config)
	a.ReleaseName, a.Namespace, a.WaitStrategy, a.Timeout = h.name, h.namespace, kube.HookOnlyStrategy, patience
	for _, option := range options {
		option(a)
	}
	_, err := a.Run(load(h, h.chart), values(h, text))
	return err
}

func (h *helm) upgrade(text string) error {
	h.Helper()
	a := action.NewUpgrade(h.config)
	a.Namespace, a.WaitStrategy, a.Timeout = h.namespace, kube.HookOnlyStrategy, patience
	_, err := a.Run(h.name, load(h, h.chart), values(h, text))
	return err
}

func (h *helm) rollback(revision int) error {
	a := action.NewRollback(h.config)
	a.Version, a.WaitStrategy, a.Timeout = revision, kube.HookOnlyStrategy, patience
	return a.Run(h.name)
}

func (h *helm) uninstall() error {
	a := action.NewUninstall(h.config)
	a.WaitStrategy, a.Timeout = kube.HookOnlyStrategy, patience
	_, err := a.Run(h.name)
	return err
}

// args are the arguments of the reconciler, as one text.
func (h *helm) args(name string) string {
	h.Helper()
	o := object("apps/v1", "Deployment", h.namespace, name)
	if !h.exists(o) {
		h.Fatalf("no Deployment %s", name)
	}
	list, _, _ := unstructured.NestedSlice(o.Object, "spec", "template", "spec", "containers")
	return fmt.Sprint(list[0].(map[string]any)["args"])
}

// TestAPIServerReleaseFromInstallationToEnd: an upgrade and a rollback change the program
// alone, and what people made stays when the release goes.
func TestAPIServerReleaseFromInstallationToEnd(t *testing.T) {
	s := newSite(t)
	h := s.helm(reconciler, reconciler, apitest.Namespace(t))
	data := apitest.Namespace(t)
	h.must(h.install(""))
	o := h.durable(data, "orders")
	h.until("a pod that Pod Security admits", func() bool {
		list := &corev1.PodList{}
		h.must(h.client.List(h.Context(), list, client.InNamespace(h.namespace), client.MatchingLabels{"app.kubernetes.io/name": reconciler}))
		return len(list.Items) == 1
	})
	before := o.GetResourceVersion()
	h.must(h.upgrade("maxConcurrentReconciles: 5"))
	if got := h.args(reconciler); !strings.Contains(got, "--max-concurrent-reconciles=5") {
		t.Errorf("upgraded: %s", got)
	}
	h.must(h.rollback(1))
	if got := h.args(reconciler); !strings.Contains(got, "--max-concurrent-reconciles=1") {
		t.Errorf("rolled back: %s", got)
	}
	h.must(h.uninstall())
	if h.exists(object("apps/v1", "Deployment", h.namespace, reconciler)) {
		t.Error("the Deployment stays")
	}
	if !h.exists(definition()) || !h.exists(o) || o.GetResourceVersion() != before {
		t.Errorf("the ValkeyCluster is not as it was: version %s, was %s", o.GetResourceVersion(), before)
	}
	// Nothing is in the way of the next release, of the same name.
	h.must(h.install(""))
	h.must(h.uninstall())
	h.until("free of the guard", func() bool { return client.IgnoreNotFound(h.client.Delete(h.Context(), o)) == nil })
}

// TestAPIServerGuardOfAReleaseHolds as Helm renders it: for as long as one of two releases
// is there.
func TestAPIServerGuardOfAReleaseHolds(t *testing.T) {
	s := newSite(t)
	a, b := s.helm(reconciler, reconciler, apitest.Namespace(t)), s.helm(reconciler, "second", apitest.Namespace(t))
	data := apitest.Namespace(t)
	s.must(a.install(""))
	s.must(b.install("crd: {enabled: false}\nreplicaCount: 2"))
	o := s.durable(data, "orders")
	denied := func() bool {
		err := s.client.Delete(s.Context(), o.DeepCopy(), client.DryRunAll)
		return apierrors.IsForbidden(err) && strings.Contains(err.Error(), "is guarded")
	}
	s.until("guarded", denied)
	if got := b.args("second-valkey-reconciler"); !strings.Contains(got, "--leader-elect") {
		t.Errorf("two replicas: %s", got)
	}
	if err := s.client.Delete(s.Context(), definition(), client.DryRunAll); !apierrors.IsForbidden(err) {
		t.Errorf("deleting the definition: %v", err)
	}
	s.must(b.uninstall())
	time.Sleep(2 * time.Second) // A policy that is gone is out of force a second later.
	if !denied() {
		t.Error("the guard of one release went with the other")
	}
	s.must(s.client.Patch(s.Context(), o, client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"deletionPolicy":"Allow"}}`))))
	s.must(s.client.Delete(s.Context(), o))
	s.must(a.uninstall())
}

// take is helm install --take-ownership, and with force --force-conflicts.
func take(force bool) func(*action.Install) {
	return func(a *action.Install) { a.Replace, a.TakeOwnership, a.ForceConflicts = true, true, force }
}

// TestAPIServerDefinitionsOfKubectlAreAdopted in the two ways of the page.
func TestAPIServerDefinitionsOfKubectlAreAdopted(t *testing.T) {
	for name, adopt := range map[string]func(*helm){
		"by the installation": func(h *helm) { h.must(h.install("", take(false))) },
		"by their marks": func(h *helm) {
			for _, kind := range []string{"valkeyclusters", "valkeyacls", "valkeynodes"} {
				d := object("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", kind+".valkey-render.dev")
				patch := fmt.Sprintf(`{"metadata":{"labels":{"app.kubernetes.io/managed-by":"Helm"},"annotations":{"meta.helm.sh/release-name":%q,"meta.helm.sh/release-namespace":%q}}}`, h.name, h.namespace)
				h.must(h.client.Patch(h.Context(), d, client.RawPatch("application/merge-patch+json", []byte(patch)), client.FieldOwner("kubectl-annotate")))
			}
			h.must(h.install("", func(a *action.Install) { a.Replace = true }))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			h := s.helm(reconciler, reconciler, apitest.Namespace(t))
			for _, text := range crd.All() {
				o := documents(t, text)[0]
				s.must(s.client.Apply(s.Context(), client.ApplyConfigurationFromUnstructured(o), client.FieldOwner("kubectl"), client.ForceOwnership))
			}
			o := s.durable(apitest.Namespace(t), "orders")
			const ownership = "invalid ownership metadata"
			if err := h.install(""); err == nil || !strings.Contains(err.Error(), ownership) {
				t.Errorf("installed over definitions of somebody else: %v", err)
			}
			adopt(h)
			s.must(h.upgrade("maxConcurrentReconciles: 2"))
			s.must(h.uninstall())
			// The definitions have the marks of the release that is gone.
			other := s.helm(reconciler, "other", apitest.Namespace(t))
			if err := other.install(""); err == nil || !strings.Contains(err.Error(), ownership) {
				t.Errorf("installed over definitions of another release: %v", err)
			}
			s.must(other.install("", take(true)))
			if !s.exists(definition()) || !s.exists(o) {
				t.Error("the ValkeyCluster is gone")
			}
			s.must(other.uninstall())
			s.until("free of the guard", func() bool { return client.IgnoreNotFound(s.client.Delete(s.Context(), o)) == nil })
		})
	}
}

func TestAPIServerClusterChart(t *testing.T) {
	apitest.Install(t)
	s := &site{t, apitest.Client(t)}
	h := s.helm(cluster, "cache", apitest.Namespace(t))
	h.must(h.install("shards: 3\nconfig: {maxmemory-policy: allkeys-lfu}\nhelmTest: {enabled: false}"))
	o := object("valkey-render.dev/v1alpha1", "ValkeyCluster", h.namespace, "cache")
	shards := func() any {
		if !h.exists(o) {
			return nil
		}
		got, _, _ := unstructured.NestedFieldNoCopy(o.Object, "spec", "shards")
		return got
	}
	if got := shards(); got != int64(3) {
		t.Errorf("installed: %v shards", got)
	}
	h.must(h.upgrade("shards: 4"))
	if got := shards(); got != int64(4) {
		t.Errorf("upgraded: %v shards", got)
	}
	// What only the server knows.
	if err := h.upgrade("shards: 4\nreplicas: 3"); err == nil || !strings.Contains(err.Error(), "replicasPerShard") {
		t.Errorf("replicas with topology Cluster: %v", err)
	}
	h.must(h.rollback(1))
	if got := shards(); got != int64(3) {
		t.Errorf("rolled back: %v shards", got)
	}
	h.must(h.uninstall())
	if got := shards(); got != nil {
		t.Error("the ValkeyCluster stays")
	}
}
