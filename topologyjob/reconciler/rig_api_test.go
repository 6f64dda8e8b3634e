// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
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
	"github.com/valkey-render/valkey-render/topologyjob/acl"
	"github.com/valkey-render/valkey-render/topologyjob/job"
	"github.com/valkey-render/valkey-render/topologyjob/metric"
	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/outcome"
	"github.com/valkey-render/valkey-render/topologyjob/setting"
	"github.com/valkey-render/valkey-render/topologyjob/slot"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// model stands in for the servers of clusters: blank, or formed as they are to be.
type model struct {
	mu     sync.Mutex
	formed map[types.NamespacedName]bool
	// primary is the index of the primary, of shards whose primary is not the first pod.
	primary map[string]int32
	// surveys are how often each cluster was asked with passwords.
	surveys map[types.NamespacedName]int
	// known is what its servers know of passwords.
	known map[types.NamespacedName]setting.Passwords
}

func newModel() *model {
	return &model{formed: map[types.NamespacedName]bool{}, surveys: map[types.NamespacedName]int{}, known: map[types.NamespacedName]setting.Passwords{}, primary: map[string]int32{}}
}

// obey makes servers know the passwords of Secrets.
func (m *model) obey(t testing.TB, key types.NamespacedName, files, system *corev1.Secret) {
	t.Helper()
	users, err := setting.ParseUsers(string(files.Data[acl.FileKey(v1alpha1.DefaultVersion)]))
	link, linkErr := acl.Hash(system.Data[name.UserReplication+acl.CurrentSuffix])
	if err := errors.Join(err, linkErr); err != nil {
		t.Error(err)
		return
	}
	p := setting.Passwords{Known: true, LinkUp: true, Link: link, Logins: map[string]setting.Login{}}
	for _, u := range users {
		p.Logins[u.Name] = setting.LoginOf(u)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.known[key] = p
}

// handOver makes the other of two pods the primary of each shard that a Job is to vacate.
func (m *model) handOver(key types.NamespacedName, args []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, arg := range args {
		pod, is := strings.CutPrefix(arg, "--vacate="+key.Name+"-")
		var shard, index int32
		if _, err := fmt.Sscanf(pod, "%d-%d", &shard, &index); is && err == nil {
			m.primary[fmt.Sprintf("%s/%d", key, shard)] = 1 - index
		}
	}
}

// Passwords implements Surveyor.
func (m *model) Passwords(_ context.Context, key types.NamespacedName, login Login, who Asked) []setting.Passwords {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []setting.Passwords
	for _, p := range who.Pods {
		if p.Host == "" {
			continue
		}
		known := m.known[key]
		if !slices.ContainsFunc(login.Passwords, func(password string) bool { return admits(known, password) }) {
			known = setting.Passwords{}
		}
		all = append(all, known)
	}
	return all
}

func (m *model) form(key types.NamespacedName, formed bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.formed[key] = formed
}

// Rest implements Surveyor.
func (m *model) Rest(types.NamespacedName) {}

// Survey implements Surveyor: every pod with an address answers.
func (m *model) Survey(_ context.Context, key types.NamespacedName, login Login, who Asked) survey.View {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.surveys[key]++
	id := func(p survey.Pod) string { return fmt.Sprintf("%02x%02x%s", p.Shard, p.Index, strings.Repeat("0", 36)) }
	shards := int32(0)
	for _, p := range who.Pods {
		shards = max(shards, p.Shard+1)
	}
	v := survey.View{Topology: who.Topology}
	for _, p := range who.Pods {
		a := survey.Answer{Pod: p}
		if p.Host == "" || len(login.Passwords) == 0 {
			a.Problem = &survey.Problem{Code: survey.Unresolved, Message: "it has no address"}
			v.Answers = append(v.Answers, a)
			continue
		}
		a.ID, a.Version, a.StateOK = id(p), "9.1.2", true
		for _, other := range who.Pods {
			e := node.Entry{ID: id(other), Linked: true, Myself: other.Name == p.Name, Epoch: uint64(other.Shard) + 1}
			primary := m.primary[fmt.Sprintf("%s/%d", key, other.Shard)]
			if m.formed[key] && other.Index == primary {
				e.Slots = slot.Bootstrap(other.Shard, shards)
			}
			if m.formed[key] && other.Index != primary {
				e.Replica, e.Primary = true, id(survey.Pod{Shard: other.Shard, Index: primary})
			}
			if e.Myself || m.formed[key] {
				a.Nodes = append(a.Nodes, e)
			}
		}
		a.LinkUp = m.formed[key] && p.Index != m.primary[fmt.Sprintf("%s/%d", key, p.Shard)]
		v.Answers = append(v.Answers, a)
	}
	return v
}

// admits reports whether a server lets the operator in with a password.
func admits(known setting.Passwords, password string) bool {
	hash, err := acl.Hash([]byte(password))
	return err == nil && slices.Contains(known.Logins[name.UserOperator].Hashes, hash)
}

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
	cache, err := Scope{Namespaces: []string{r.namespace}}.Cache()
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
		JobImage: "image", Resync: cmp.Or(r.resync, 2*time.Second), Ended: NewEnded(clock.RealClock{}), Refused: NewRefused(),
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
func (r *rig) cluster(called string, shards int32) types.NamespacedName {
	r.Helper()
	c := &v1alpha1.ValkeyCluster{ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: called}}
	c.Spec.Shards, c.Spec.ReplicasPerShard, c.Spec.Delivery = new(shards), new(int32(1)), v1alpha1.DeliveryGitOps
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

// nodes runs pods and Jobs until the test is over: pods of clusters are ready at once, those
// of Jobs end as they are told to, and a bootstrap forms the cluster.
func (r *rig) nodes() {
	ctx, cancel := context.WithCancel(r.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			if err := r.serve(ctx); err != nil && ctx.Err() == nil {
				r.Errorf("nodes: %v", err)
				return
			}
			select {
			case <-ctx.Done():
			case <-time.After(100 * time.Millisecond):
			}
		}
	}()
	r.Cleanup(func() { cancel(); <-done })
}

func (r *rig) serve(ctx context.Context) error {
	var pods corev1.PodList
	if err := r.admin.List(ctx, &pods, client.InNamespace(r.namespace)); err != nil {
		return err
	}
	for i := range pods.Items {
		p := &pods.Items[i]
		if p.Status.Phase != corev1.PodPending {
			continue
		}
		next := p.DeepCopy()
		called := p.Labels[batchv1.JobNameLabel]
		switch {
		case called != "":
			if err := r.end(ctx, next, called); err != nil {
				return err
			}
		case !r.mounts(ctx, p):
			continue
		default:
			// They may go between two looks.
			if err := r.obey(ctx, p.Labels[name.LabelCluster]); err != nil {
				continue
			}
			next.Status.Phase = corev1.PodRunning
			next.Status.PodIP = fmt.Sprintf("10.1.%d.%d", i/250, i%250+1)
			next.Status.PodIPs = []corev1.PodIP{{IP: next.Status.PodIP}}
			next.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()}}
			next.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "server", Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}}}}
		}
		if err := r.admin.Status().Patch(ctx, next, client.MergeFrom(p)); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}

// obey has the servers of a cluster read their Secrets.
func (r *rig) obey(ctx context.Context, cluster string) error {
	files, system := &corev1.Secret{}, &corev1.Secret{}
	err := errors.Join(
		r.admin.Get(ctx, types.NamespacedName{Namespace: r.namespace, Name: name.ACLSecret(cluster)}, files),
		r.admin.Get(ctx, types.NamespacedName{Namespace: r.namespace, Name: name.SystemSecret(cluster)}, system),
	)
	if err == nil {
		r.model.obey(r, types.NamespacedName{Namespace: r.namespace, Name: cluster}, files, system)
	}
	return err
}

// mounts reports whether a pod of a cluster has the Secrets that it starts with.
func (r *rig) mounts(ctx context.Context, p *corev1.Pod) bool {
	// It is written last.
	key := types.NamespacedName{Namespace: r.namespace, Name: name.ACLSecret(p.Labels[name.LabelCluster])}
	return r.admin.Get(ctx, key, &corev1.Secret{}) == nil
}

// end ends the pod of a Job.
func (r *rig) end(ctx context.Context, p *corev1.Pod, called string) error {
	r.mu.Lock()
	result := r.result
	r.mu.Unlock()
	if result == "" {
		return nil
	}
	j := &batchv1.Job{}
	if err := r.admin.Get(ctx, types.NamespacedName{Namespace: r.namespace, Name: called}, j); err != nil {
		return client.IgnoreNotFound(err)
	}
	kind := j.Annotations[job.AnnotationKind]
	if kind == job.Handover && result == outcome.Converged {
		r.model.handOver(types.NamespacedName{Namespace: r.namespace, Name: j.Labels[name.LabelCluster]}, j.Spec.Template.Spec.Containers[0].Args)
	}
	if (kind == job.ACL || kind == job.Rotate) && result == outcome.Converged {
		// Its pod waits for Secrets that are not there, as a kubelet has it wait.
		if err := r.obey(ctx, j.Labels[name.LabelCluster]); err != nil {
			return client.IgnoreNotFound(err)
		}
	}
	if kind == job.Bootstrap && result == outcome.Converged {
		r.model.form(types.NamespacedName{Namespace: r.namespace, Name: j.Labels[name.LabelCluster]}, true)
	}
	data, err := outcome.Outcome{Kind: kind, Result: result, Message: "words of the Job"}.JSON()
	if err != nil {
		return err
	}
	p.Status.Phase = corev1.PodSucceeded
	if result != outcome.Converged {
		p.Status.Phase = corev1.PodFailed
	}
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "job", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: int32(result.ExitCode()), FinishedAt: metav1.Now(), Message: string(data),
	}}}}
	return nil
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
