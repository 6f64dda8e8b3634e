// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/internal/apitest"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/metric"
	"github.com/valkey-render/valkey-render/topologyjob/outcome"
)

// errCrash is what the client of a reconciler that has crashed answers.
var errCrash = errors.New("the reconciler has crashed")

// rig is a namespace of a real API server, with a stand-in for nodes and Jobs.
type rig struct {
	testing.TB
	admin     client.Client
	namespace string
	model     *model
	// result is how the next Jobs end; "" leaves them alone.
	mu     sync.Mutex
	result outcome.Result
	// resync of reconcilers, 2 s when 0.
	resync time.Duration
	// metrics are those of reconcilers.
	metrics *metric.Set
	// writes counts what reconcilers wrote, by verb and kind.
	writes []string
}

func newRig(t testing.TB) *rig {
	t.Helper()
	apitest.Install(t)
	log.SetLogger(logr.Discard())
	scheme, err := Scheme()
	if err != nil {
		t.Fatal(err)
	}
	admin, err := client.New(apitest.Config(t), client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	return &rig{TB: t, admin: admin, namespace: apitest.Namespace(t), model: newModel(), result: outcome.Converged, metrics: metric.New("test")}
}

func (r *rig) wrote(what string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, w := range r.writes {
		if strings.HasPrefix(w, what) {
			n++
		}
	}
	return n
}

func (r *rig) ends(result outcome.Result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.result = result
}

// reconcile runs a reconciler with a connection until stop is called, or until it has made
// so many writes, 0 for any number: then it is gone as if it was killed.
func (r *rig) reconcile(config *rest.Config, crashAfter int) (stop func(), crashed <-chan struct{}) {
	r.Helper()
	scheme, err := Scheme()
	if err != nil {
		r.Fatal(err)
	}
	scope := Scope{Namespaces: []string{r.namespace}}
	cache, err := scope.Cache()
	if err != nil {
		r.Fatal(err)
	}
	m, err := manager.New(config, manager.Options{
		Scheme: scheme, Cache: cache, Metrics: server.Options{BindAddress: "0"}, HealthProbeBindAddress: "0", Logger: logr.Discard(),
		GracefulShutdownTimeout: new(10 * time.Second),
	})
	if err != nil {
		r.Fatal(err)
	}
	gone := make(chan struct{})
	work := &Reconciler{
		Client: r.counting(m.GetClient(), crashAfter, gone), Live: m.GetAPIReader(), Surveyor: r.model, Clock: clock.RealClock{}, Random: rand.Reader,
		Metrics: r.metrics,
		Events:  m.GetEventRecorder(v1alpha1.ClusterReporter), NodeEvents: m.GetEventRecorder(v1alpha1.NodeReporter),
		JobImage: "image", Resync: cmp.Or(r.resync, 2*time.Second), Ended: NewEnded(clock.RealClock{}), Refused: NewRefused(), Scope: scope,
		Orphans: NewOrphans(clock.RealClock{}, time.Second),
	}
	ctx, cancel := context.WithCancel(r.Context())
	if err := work.Setup(ctx, m, 4); err != nil {
		r.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := m.Start(ctx); err != nil && ctx.Err() == nil {
			r.Errorf("manager: %v", err)
		}
	}()
	stop = func() { cancel(); <-done }
	r.Cleanup(stop)
	return stop, gone
}

// counting counts the writes of a client, and fails all of them after so many.
func (r *rig) counting(c client.Client, crashAfter int, gone chan struct{}) client.Client {
	made := 0
	var once sync.Once
	count := func() error {
		r.mu.Lock()
		defer r.mu.Unlock()
		if crashAfter > 0 && made >= crashAfter {
			once.Do(func() { close(gone) })
			return errCrash
		}
		made++
		return nil
	}
	// What the server refuses, an eviction of a pod that is gone, is no write of that name.
	write := func(verb string, o client.Object, do func() error) error {
		if err := count(); err != nil {
			return err
		}
		err := do()
		if err != nil {
			verb = "refused " + verb
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.writes = append(r.writes, fmt.Sprintf("%s %T %s", verb, o, o.GetName()))
		return err
	}
	watching, ok := c.(client.WithWatch)
	if !ok {
		watching = withoutWatch{c}
	}
	return interceptor.NewClient(watching, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			return write("create", o, func() error { return c.Create(ctx, o, opts...) })
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			return write("update", o, func() error { return c.Update(ctx, o, opts...) })
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			return write("delete", o, func() error { return c.Delete(ctx, o, opts...) })
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			return write("patch", o, func() error { return c.Patch(ctx, o, p, opts...) })
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
			return write("patch "+sub, o, func() error { return c.SubResource(sub).Patch(ctx, o, p, opts...) })
		},
		SubResourceCreate: func(ctx context.Context, c client.Client, sub string, o, s client.Object, opts ...client.SubResourceCreateOption) error {
			return write("create "+sub, o, func() error { return c.SubResource(sub).Create(ctx, o, s, opts...) })
		},
	})
}

// cluster makes a ValkeyCluster and what of its rendering a reconciler has to find: its
// StatefulSets. Their controller makes the pods.
func (r *rig) cluster(called string, shards int32, edit ...func(*v1alpha1.ValkeyClusterSpec)) types.NamespacedName {
	r.Helper()
	c := &v1alpha1.ValkeyCluster{ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: called}}
	c.Spec.Shards, c.Spec.ReplicasPerShard, c.Spec.Delivery = new(shards), new(int32(1)), v1alpha1.DeliveryGitOps
	for _, e := range edit {
		e(&c.Spec)
	}
	hash, err := c.SpecHash()
	if err != nil {
		r.Fatal(err)
	}
	c.Annotations = map[string]string{v1alpha1.AnnotationSpecHash: hash}
	if err := r.admin.Create(r.Context(), c); err != nil {
		r.Fatal(err)
	}
	for shard := range shards {
		r.set(called, shard)
	}
	for _, o := range name.Rendered(c) {
		meta := metav1.ObjectMeta{Namespace: r.namespace, Name: o.Name, Labels: name.Labels(called, name.ComponentCluster)}
		var object client.Object
		switch o.Kind {
		case "Service":
			object = &corev1.Service{ObjectMeta: meta, Spec: corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone}}
		case "ConfigMap":
			object = &corev1.ConfigMap{ObjectMeta: meta}
		case "PodDisruptionBudget":
			object = &policyv1.PodDisruptionBudget{ObjectMeta: meta}
		default:
			continue
		}
		if err := r.admin.Create(r.Context(), object); err != nil {
			r.Fatal(err)
		}
	}
	return client.ObjectKeyFromObject(c)
}

func (r *rig) set(cluster string, shard int32) {
	r.Helper()
	no := false
	set := &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: name.StatefulSet(cluster, shard), Labels: name.ShardLabels(cluster, shard)},
		Spec: appsv1.StatefulSetSpec{
			Replicas: new(int32(2)), ServiceName: name.Nodes(cluster), PodManagementPolicy: appsv1.ParallelPodManagement,
			Selector:       &metav1.LabelSelector{MatchLabels: name.DataSelector(cluster, shard)},
			UpdateStrategy: appsv1.StatefulSetUpdateStrategy{Type: appsv1.OnDeleteStatefulSetStrategyType},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: name.DataPodLabels(cluster, shard)},
				Spec: corev1.PodSpec{
					SecurityContext: &corev1.PodSecurityContext{
						RunAsNonRoot: new(true), RunAsUser: new(int64(999)), SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
					},
					Containers: []corev1.Container{{
						Name: "server", Image: "x",
						SecurityContext: &corev1.SecurityContext{AllowPrivilegeEscalation: &no, Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}},
					}},
				},
			},
		},
	}
	if err := r.admin.Create(r.Context(), set); err != nil {
		r.Fatal(err)
	}
}

// until waits for a condition, which says what is missing.
func (r *rig) until(what string, condition func() error) {
	r.Helper()
	var last error
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if last = condition(); last == nil {
			return
		}
		if r.Context().Err() != nil {
			break
		}
	}
	r.Fatalf("%s: still %v\nwrites: %s", what, last, strings.Join(r.writes, "; "))
}

// status is that of a cluster.
func (r *rig) seen(key types.NamespacedName) v1alpha1.ValkeyClusterStatus {
	r.Helper()
	c := &v1alpha1.ValkeyCluster{}
	if err := r.admin.Get(r.Context(), key, c); err != nil {
		r.Fatal(err)
	}
	return c.Status
}

// state waits for a state of a cluster.
func (r *rig) state(key types.NamespacedName, want v1alpha1.ClusterState) {
	r.Helper()
	r.until("state "+string(want), func() error {
		if s := r.seen(key); s.State != want {
			return fmt.Errorf("%s %s: %s", s.State, s.Reason, s.Message)
		}
		return nil
	})
}

// withoutWatch makes a client one that could watch, for the interceptor.
type withoutWatch struct{ client.Client }

// Watch implements client.WithWatch.
func (withoutWatch) Watch(context.Context, client.ObjectList, ...client.ListOption) (watch.Interface, error) {
	return nil, errors.New("nothing is watched")
}
