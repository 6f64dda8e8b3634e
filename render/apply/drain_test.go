// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/job"
	"github.com/valkey-render/valkey-render/render/load"
)

// jobless is a Cluster with so many shards that needs no reconciler.
func (r *rig) jobless(shards int, more string) []Cluster {
	r.t.Helper()
	text := clusterSpec(fmt.Sprintf("jobs: Rendered\nshards: %d\nresources: {limits: {memory: 1Gi}}\n%s", shards, more))
	clusters := rendered(r.t, r.namespace, text)
	set, findings := load.Parse([]load.Source{{Name: "spec.yaml", Data: []byte(text)}}, load.Options{Namespace: r.namespace, OverrideNamespace: true})
	if err := findings.Err(); err != nil {
		r.t.Fatal(err)
	}
	clusters[0].Spec = set.Clusters[0].Object.DeepCopy()
	clusters[0].Spec.Default()
	return clusters
}

func (r *rig) carryOut(a *Applier, clusters []Cluster) ([]Result, error) {
	r.t.Helper()
	p, err := a.Plan(r.t.Context(), clusters)
	if err != nil {
		return p.Results(), err
	}
	return p.Run(r.t.Context())
}

// nodes stands in for nodes: the pods of Jobs end, those of drains with what is next.
type nodes struct {
	*rig
	mu sync.Mutex
	// says is how the next drain ends; while it is empty none does.
	says string
	// began are the drains that were seen, by UID.
	began map[string]string
}

func (r *rig) nodes(says string) *nodes {
	n := &nodes{rig: r, says: says, began: map[string]string{}}
	ctx, cancel := context.WithCancel(r.t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			if err := n.serve(ctx); err != nil && ctx.Err() == nil {
				r.t.Errorf("nodes: %v", err)
				return
			}
			select {
			case <-ctx.Done():
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	r.t.Cleanup(func() { cancel(); <-done })
	return n
}

func (n *nodes) say(words string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.says = words
}

func (n *nodes) drains() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.began)
}

func (n *nodes) serve(ctx context.Context) error {
	var jobs batchv1.JobList
	if err := n.client.List(ctx, &jobs, client.InNamespace(n.namespace)); err != nil {
		return err
	}
	for i := range jobs.Items {
		j := &jobs.Items[i]
		if slices.ContainsFunc(j.Status.Conditions, func(c batchv1.JobCondition) bool { return c.Type == "Complete" || c.Type == "Failed" }) {
			continue
		}
		words := `{"result":"` + job.Converged + `"}`
		if strings.HasPrefix(j.Name, "cache-drain-") {
			n.mu.Lock()
			n.began[string(j.UID)] = j.Name
			words = n.says
			n.mu.Unlock()
		}
		if words == "" {
			continue
		}
		if err := n.end(ctx, j, words); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}

// end ends a Job: by its pod where there is a controller, else by its status too.
func (n *nodes) end(ctx context.Context, j *batchv1.Job, words string) error {
	well := strings.Contains(words, `"`+job.Converged+`"`)
	ended := func(p *corev1.Pod) {
		p.Status.Phase = corev1.PodSucceeded
		state := &corev1.ContainerStateTerminated{Message: words, FinishedAt: metav1.Now()}
		if !well {
			// Bad input ends a Job at once.
			p.Status.Phase, state.ExitCode = corev1.PodFailed, 64
		}
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "job", State: corev1.ContainerState{Terminated: state}}}
	}
	if n.controllers {
		var pods corev1.PodList
		if err := n.client.List(ctx, &pods, client.InNamespace(n.namespace), client.MatchingLabels{batchv1.JobNameLabel: j.Name}); err != nil {
			return err
		}
		for i := range pods.Items {
			if pods.Items[i].Status.Phase == corev1.PodPending {
				next := pods.Items[i].DeepCopy()
				ended(next)
				if err := n.client.Status().Patch(ctx, next, client.MergeFrom(&pods.Items[i])); err != nil {
					return err
				}
			}
		}
		return nil
	}
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: n.namespace, GenerateName: j.Name + "-", Labels: map[string]string{batchv1.ControllerUidLabel: string(j.UID)}}}
	ended(p)
	if err := n.client.Create(ctx, p); err != nil {
		return err
	}
	next := j.DeepCopy()
	condition := batchv1.JobCondition{Type: "Complete", Status: "True"}
	if !well {
		condition = batchv1.JobCondition{Type: "Failed", Status: "True", Message: "a pod failed"}
	}
	next.Status.Conditions = append(next.Status.Conditions, condition)
	return n.client.Status().Patch(ctx, next, client.MergeFrom(j))
}

const emptied = `{"kind":"drain","result":"` + job.Converged + `"}`

func quick() Options { return Options{Interval: 10 * time.Millisecond} }

// drainsBeforeItShrinks: nothing is changed before the shards that go are empty, and then
// their StatefulSets go, the Job, and everything else.
func drainsBeforeItShrinks(t *testing.T, newRig maker) {
	r := newRig(t)
	n := r.nodes(emptied)
	if _, err := r.carryOut(r.applier(quick()), r.jobless(5, "")); err != nil {
		t.Fatal(err)
	}
	clusters := r.jobless(3, "replicasPerShard: 2\n")
	d := &diary{}
	o := d.options()
	o.Interval = 10 * time.Millisecond
	a := r.applier(o)
	a.before = d.before
	p, err := a.Plan(t.Context(), clusters)
	if err != nil {
		t.Fatal(err)
	}
	planned := summary(p.Results())
	for _, want := range []string{p.units[0].drain.job.GetName() + " created", "StatefulSet/cache-4 deleted", "StatefulSet/cache-3 deleted", "PodDisruptionBudget/cache-3 deleted"} {
		if !slices.ContainsFunc(planned, func(line string) bool { return strings.HasSuffix(line, want) }) {
			t.Errorf("not planned: %s, but %q", want, planned)
		}
	}
	checkDrainJob(t, p.units[0].drain.job)
	if _, err := p.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	called := "Job/" + r.namespace + "/" + p.units[0].drain.job.GetName()
	order := []string{"write ConfigMap/", "apply " + called, "delete StatefulSet/" + r.namespace + "/cache-4", "delete StatefulSet/" + r.namespace + "/cache-3", "apply StatefulSet/", "delete " + called}
	at := 0
	for _, write := range d.writes {
		if at < len(order) && strings.HasPrefix(write, order[at]) {
			at++
		} else if at < 4 && !strings.HasPrefix(write, "write ") {
			t.Errorf("%s before %s", write, order[at])
		}
	}
	if at < len(order) {
		t.Errorf("no %s in %q", order[at], d.writes)
	}
	if len(d.notes) != 1 || !strings.Contains(d.notes[0], "moves the slots and keys of shards 3, 4 away") {
		t.Errorf("%q", d.notes)
	}
	if r.exists("apps/v1", "StatefulSet", "cache-3") || r.exists("policy/v1", "PodDisruptionBudget", "cache-3") || !r.exists("apps/v1", "StatefulSet", "cache-2") || n.drains() != 1 {
		t.Errorf("shards are there that should not be, or %d drains", n.drains())
	}
	if lines := r.inventoryLines(); slices.ContainsFunc(lines, func(line string) bool { return strings.Contains(line, "drain") }) {
		t.Errorf("%q", lines)
	}
}

// checkDrainJob: it is the converge Job, told to drain five shards to three as they are.
func checkDrainJob(t *testing.T, o *unstructured.Unstructured) {
	t.Helper()
	var j batchv1.Job
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &j); err != nil {
		t.Fatal(err)
	}
	spec := j.Spec.Template.Spec
	args := strings.Join(spec.Containers[0].Args, " ")
	for _, want := range []string{"--kind=drain", "--present-shards=5", "--deadline=21600s", "--filename=", "--password-file="} {
		if !strings.Contains(args, want) {
			t.Errorf("no %s in %s", want, args)
		}
	}
	var c v1alpha1.ValkeyCluster
	if err := yaml.Unmarshal([]byte(j.Spec.Template.Annotations[v1alpha1.AnnotationSpec]), &c); err != nil || c.ShardCount() != 3 || *c.Spec.ReplicasPerShard != 1 {
		t.Errorf("%v, %+v", err, c.Spec)
	}
	if *spec.AutomountServiceAccountToken || !*spec.SecurityContext.RunAsNonRoot || !*spec.Containers[0].SecurityContext.ReadOnlyRootFilesystem || *j.Spec.BackoffLimit != 1 {
		t.Errorf("%+v", spec)
	}
}

// aDrainThatFails: the reason is told, everything is as it was, and the next run has a Job of
// its own.
func aDrainThatFails(t *testing.T, newRig maker) {
	r := newRig(t)
	n := r.nodes(`{"kind":"drain","result":"blocked","message":"pod cache-3-1 does not answer"}`)
	before := r.jobless(4, "")
	if _, err := r.carryOut(r.applier(quick()), before); err != nil {
		t.Fatal(err)
	}
	was := r.state(before)
	for drains := 1; drains <= 2; drains++ {
		_, err := r.carryOut(r.applier(quick()), r.jobless(3, ""))
		notReady, ok := errors.AsType[*NotReadyError](err)
		if !ok || notReady.Err != nil || !strings.Contains(err.Error(), "pod cache-3-1 does not answer; nothing else was changed") {
			t.Errorf("%v", err)
		}
		if n.drains() != drains {
			t.Errorf("%d drains, want %d", n.drains(), drains)
		}
	}
	// The inventory alone knows of the attempt.
	now := r.state(before)
	for id, state := range was {
		if now[id] != state && !strings.HasSuffix(id, "-inventory") {
			t.Errorf("%s: was %s, is %s", id, state, now[id])
		}
	}
	n.say(emptied)
	if _, err := r.carryOut(r.applier(quick()), r.jobless(3, "")); err != nil || r.exists("apps/v1", "StatefulSet", "cache-3") {
		t.Error(err)
	}
}

// aDrainGoesOn: a run that was stopped while the Job works leaves it, and the next one waits
// for that. A Job that had ended before is not believed, whatever it said.
func aDrainGoesOn(t *testing.T, newRig maker) {
	r := newRig(t)
	n := r.nodes("")
	if _, err := r.carryOut(r.applier(quick()), r.jobless(4, "")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := quick()
	o.OnWait = func(p Progress) {
		if strings.HasPrefix(p.Pending[0].Name, "cache-drain-") && n.drains() == 1 {
			cancel()
		}
	}
	o.OnNote = func(string) {
		for n.drains() == 0 && ctx.Err() == nil {
			time.Sleep(10 * time.Millisecond)
		}
	}
	a := r.applier(o)
	p, err := a.Plan(ctx, r.jobless(3, ""))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Run(ctx); !errors.Is(err, context.Canceled) || !r.exists("apps/v1", "StatefulSet", "cache-3") {
		t.Fatal(err)
	}
	// Killed after the Job has ended, before anything was deleted.
	o = quick()
	o.OnWait = func(Progress) { n.say(emptied) }
	a = r.applier(o)
	a.before = func(write string) error {
		if strings.HasPrefix(write, "delete StatefulSet") {
			return errKilled
		}
		return nil
	}
	if _, err := r.carryOut(a, r.jobless(3, "")); !errors.Is(err, errKilled) || n.drains() != 1 {
		t.Errorf("%v, %d drains", err, n.drains())
	}
	if _, err := r.carryOut(r.applier(quick()), r.jobless(3, "")); err != nil || r.exists("apps/v1", "StatefulSet", "cache-3") || n.drains() != 2 {
		t.Errorf("%v, %d drains", err, n.drains())
	}
}

// TestShardsAreDrainedOnlyWhereNobodyElseDoesIt: with a ValkeyCluster its reconciler does,
// with Allow they go, and servers that do not run give nothing away.
func TestShardsAreDrainedOnlyWhereNobodyElseDoesIt(t *testing.T) {
	for called, c := range map[string]struct {
		more string
		want Action
	}{
		"allowed": {"deletionPolicy: Allow\n", Deleted}, "hibernating": {"profile: Durable\nstorage: {size: 1Gi}\nhibernate: true\n", Held},
	} {
		t.Run(called, func(t *testing.T) {
			r := newFake(t)
			if _, err := r.carryOut(r.applier(quick()), r.jobless(4, c.more)); err != nil {
				t.Fatal(err)
			}
			p, err := r.applier(quick()).Plan(t.Context(), r.jobless(3, c.more))
			if err != nil || p.units[0].drain != nil {
				t.Fatalf("%v, %v", err, p.units[0].drain)
			}
			for _, change := range p.Results()[0].Changes {
				if change.Kind == "StatefulSet" && change.Name == "cache-3" && change.Action != c.want {
					t.Errorf("%s: %s", change.Action, change.Message)
				}
			}
		})
	}
}
