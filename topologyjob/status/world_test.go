// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/acl"
	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/slot"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// world is a cluster with everything that is seen of it.
type world struct {
	t   *testing.T
	c   *v1alpha1.ValkeyCluster
	o   Observed
	now time.Time
}

// started is when everything of a world was made.
var started = noon.Add(-time.Hour)

// healthy is a world in which everything is as the spec asks, with the status that follows.
func healthy(t *testing.T, spec string) *world {
	t.Helper()
	w := rendered(t, spec)
	w.pods()
	w.survey()
	w.settle()
	return w
}

// specified is a world with nothing but a spec.
func specified(t *testing.T, spec string) *world {
	t.Helper()
	c := &v1alpha1.ValkeyCluster{}
	if err := yaml.UnmarshalStrict([]byte(spec), &c.Spec); err != nil {
		t.Fatal(err)
	}
	c.Name, c.Namespace, c.Generation = "c", "ns", 1
	c.Status.ObservedGeneration, c.Status.State = -1, v1alpha1.StateInitializing
	return &world{t: t, c: c, now: noon}
}

// rendered is a world in which everything was applied a while ago, and no pod is there yet.
func rendered(t *testing.T, spec string) *world {
	t.Helper()
	w := specified(t, spec)
	d := w.defaulted()
	w.o.Rendering = Rendering{Current: true, Hash: "0123456789abcdef"}
	for _, o := range name.Rendered(w.c) {
		switch o.Kind {
		case name.KindStatefulSet:
			s := StatefulSet{Name: o.Name, Shard: o.Shard, Sentinel: o.Shard < 0, Created: started, Replicas: d.PodsPerShard(), Observed: true, UpdateRevision: "r1"}
			if s.Sentinel {
				s.Replicas = d.SentinelReplicas()
			}
			w.o.StatefulSets = append(w.o.StatefulSets, s)
		case name.KindClaim:
			shard, index := place(o.Name)
			w.o.Claims = append(w.o.Claims, Claim{Name: o.Name, Shard: shard, Index: index, Phase: corev1.ClaimBound, Requested: d.StorageSize(), Capacity: d.StorageSize()})
		default:
			w.o.Objects = append(w.o.Objects, Object{Kind: o.Kind, Name: o.Name, Shard: o.Shard})
		}
	}
	w.secrets()
	return w
}

func (w *world) defaulted() *v1alpha1.ValkeyCluster {
	d := w.c.DeepCopy()
	d.Default()
	return d
}

// secrets are all that the users and the certificate need.
func (w *world) secrets() {
	d := w.defaulted()
	users, err := acl.Merge(d, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	w.o.Secrets = map[string]Secret{name.ACLSecret(w.c.Name): {Keys: []string{"9.1.acl"}}}
	for _, ref := range acl.Needs(d, users) {
		s := w.o.Secrets[ref.Secret]
		s.Keys = append(s.Keys, ref.Key)
		w.o.Secrets[ref.Secret] = s
	}
	if d.TLSEnabled() {
		w.o.Secrets[d.TLSSecretName()] = Secret{Keys: []string{"ca.crt", "tls.crt", "tls.key"}}
	}
}

// pods runs a ready pod in every place.
func (w *world) pods() {
	w.o.Pods, w.o.Settings = nil, map[string]Settings{}
	for i := range w.o.StatefulSets {
		s := &w.o.StatefulSets[i]
		s.Pods = s.Replicas
		for index := range s.Replicas {
			p := Pod{Name: fmt.Sprintf("%s-%d", s.Name, index), Shard: s.Shard, Index: index, Sentinel: s.Sentinel, Created: started, Phase: corev1.PodRunning, Ready: true, Revision: "r1"}
			p.IP = fmt.Sprintf("10.0.%d.%d", max(0, s.Shard), 1+index)
			w.o.Pods = append(w.o.Pods, p)
			if !p.Sentinel {
				applied := &Setting{Reason: v1alpha1.ReasonApplied}
				known := Settings{LiveConfig: applied, ACL: applied}
				if w.c.TLSEnabled() {
					known.TLS = applied
				}
				w.o.Settings[p.Name] = known
			}
		}
	}
}

// id is the node ID of a pod.
func id(pod string) string {
	shard, index := place(pod)
	return fmt.Sprintf("%02x%02x", shard, index) + strings.Repeat("0", 36)
}

// survey asks the servers of a formed cluster: the first pod of each shard is its primary.
func (w *world) survey() {
	d := w.defaulted()
	w.o.View = &survey.View{Topology: d.EffectiveTopology()}
	if !d.IsCluster() {
		w.surveyReplication()
		return
	}
	var pods []Pod
	for _, p := range w.o.Pods {
		if !p.Sentinel {
			pods = append(pods, p)
		}
	}
	for _, p := range pods {
		a := survey.Answer{Pod: survey.Pod{Name: p.Name, Shard: p.Shard, Index: p.Index, Host: p.IP, Port: 6379}, ID: id(p.Name), Version: "9.1.2", Offset: 1000, StateOK: true, LinkUp: p.Index > 0}
		for _, other := range pods {
			e := node.Entry{ID: id(other.Name), Myself: other.Name == p.Name, Linked: true}
			if other.Index > 0 {
				e.Replica, e.Primary = true, id(name.Pod(w.c.Name, other.Shard, 0))
			} else if other.Shard < d.ShardCount() {
				e.Slots = slot.Bootstrap(other.Shard, d.ShardCount())
			}
			a.Nodes = append(a.Nodes, e)
		}
		w.o.View.Answers = append(w.o.View.Answers, a)
	}
}

func (w *world) surveyReplication() {
	primary := survey.Endpoint{Host: "10.0.0.1", Port: 6379}
	for _, p := range w.o.Pods {
		if p.Sentinel {
			continue
		}
		a := survey.Answer{Pod: survey.Pod{Name: p.Name, Host: p.IP, Port: 6379}, Version: "9.1.2", Offset: 1000, LinkUp: p.Index > 0}
		a.Address = node.Address{IP: p.IP, Port: 6379}
		a.Replication = &survey.Replication{Primary: p.Index == 0}
		if p.Index > 0 {
			a.Replication.Follows = primary
		}
		w.o.View.Answers = append(w.o.View.Answers, a)
	}
}

// pod, set, claim and answer find what a test changes.
func (w *world) pod(called string) *Pod {
	return find1(w, w.o.Pods, called, func(p *Pod) string { return p.Name })
}

func (w *world) set(called string) *StatefulSet {
	return find1(w, w.o.StatefulSets, called, func(s *StatefulSet) string { return s.Name })
}

func (w *world) claim(called string) *Claim {
	return find1(w, w.o.Claims, called, func(c *Claim) string { return c.Name })
}

func (w *world) answer(pod string) *survey.Answer {
	return find1(w, w.o.View.Answers, pod, func(a *survey.Answer) string { return a.Pod.Name })
}

func find1[T any](w *world, list []T, called string, by func(*T) string) *T {
	for i := range list {
		if by(&list[i]) == called {
			return &list[i]
		}
	}
	w.t.Fatalf("no %T %s", *new(T), called)
	return nil
}

// silence makes the server of a pod answer nobody; the others miss it.
func (w *world) silence(pod string) {
	a := w.answer(pod)
	*a = survey.Answer{Pod: a.Pod, Problem: &survey.Problem{Code: survey.Unreachable, Message: "connection refused"}}
	for i := range w.o.View.Answers {
		for j := range w.o.View.Answers[i].Nodes {
			if e := &w.o.View.Answers[i].Nodes[j]; e.ID == id(pod) {
				e.Failed = true
			}
		}
	}
}

// kill takes a pod away: its server is silent and its StatefulSet has one pod less.
func (w *world) kill(pod string) {
	w.silence(pod)
	w.set(pod[:strings.LastIndex(pod, "-")]).Pods--
	w.o.Pods = slices.DeleteFunc(w.o.Pods, func(p Pod) bool { return p.Name == pod })
}

// drop takes a rendered object away.
func (w *world) drop(kind, called string) {
	w.o.Objects = slices.DeleteFunc(w.o.Objects, func(o Object) bool { return o.Kind == kind && o.Name == called })
	w.o.Claims = slices.DeleteFunc(w.o.Claims, func(c Claim) bool { return kind == name.KindClaim && c.Name == called })
	w.o.StatefulSets = slices.DeleteFunc(w.o.StatefulSets, func(s StatefulSet) bool { return kind == name.KindStatefulSet && s.Name == called })
}

// compute works the status out.
func (w *world) compute() Result { return Compute(w.c, w.o, w.now) }

// settle writes what was worked out, as the reconciler does.
func (w *world) settle() Result {
	r := w.compute()
	w.write(r)
	return r
}

func (w *world) write(r Result) {
	w.c.Status = *r.Status.DeepCopy()
	var nodes []v1alpha1.ValkeyNode
	for _, n := range r.Nodes {
		live := v1alpha1.ValkeyNode{ObjectMeta: metav1.ObjectMeta{Name: n.Name, Namespace: w.c.Namespace, Generation: 1}, Spec: n.Spec, Status: *n.Status.DeepCopy()}
		nodes = append(nodes, live)
	}
	w.o.Nodes = nodes
}

// says is a condition as "True Reason", "" when it is absent.
func says(list []metav1.Condition, kind string) string {
	if c := find(list, kind); c != nil {
		return string(c.Status) + " " + c.Reason
	}
	return ""
}

// told are the reasons of events, those of ValkeyNodes with the node's name.
func told(events []Event) []string {
	var list []string
	for _, e := range events {
		if e.Node != "" {
			e.Reason += " " + e.Node
		}
		list = append(list, e.Reason)
	}
	return list
}
