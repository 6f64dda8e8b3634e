// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/outcome"
)

func TestConditionsOfANode(t *testing.T) {
	grow := func(w *world) *Claim {
		size := resource.MustParse("20Gi")
		w.c.Spec.Storage.Size = &size
		return w.claim("data-c-0-1")
	}
	for title, test := range map[string]struct {
		spec   string
		change func(*world)
		want   []string
		says   string
	}{
		"ready": {durableSpec, func(*world) {}, []string{
			"Ready: True PodRunning", "PersistentVolumeClaimReady: True PersistentVolumeClaimBound", "PersistentVolumeClaimSizeReady: True PersistentVolumeClaimSizeSatisfied",
			"LiveConfigApplied: True Applied", "ACLApplied: True Applied", "TLSReloaded:",
		}, ""},
		"without claims":             {cacheSpec, func(*world) {}, []string{"Ready: True PodRunning", "PersistentVolumeClaimReady:", "PersistentVolumeClaimSizeReady:"}, ""},
		"with TLS":                   {cacheSpec + "tls: {}\n", func(*world) {}, []string{"TLSReloaded: True Applied"}, ""},
		"without its pod":            {cacheSpec, func(w *world) { w.kill("c-0-1") }, []string{"Ready: False PodNotReady"}, "Pod c-0-1 is missing"},
		"with a pod that stops":      {cacheSpec, func(w *world) { w.pod("c-0-1").Deleting = true }, []string{"Ready: False PodNotReady"}, "stops"},
		"with a pod without a node":  {cacheSpec, func(w *world) { w.pod("c-0-1").Unschedulable = "0/3 nodes" }, []string{"Ready: False PodNotReady"}, "0/3 nodes"},
		"with a pod that is unready": {cacheSpec, func(w *world) { w.pod("c-0-1").Ready = false }, []string{"Ready: False PodNotReady"}, "is not ready"},
		"with a container that waits": {cacheSpec, func(w *world) {
			p := w.pod("c-0-1")
			p.Ready, p.Waiting, p.WaitingContainer, p.WaitingMessage = false, "ErrImagePull", "server", "unauthorized"
		}, []string{"Ready: False PodNotReady"}, "ErrImagePull: unauthorized"},
		"with an older template": {cacheSpec, func(w *world) { w.set("c-0").UpdateRevision = "r2" }, []string{"Ready: False PodNotReady"}, "older template"},
		"without its claim": {durableSpec, func(w *world) { w.drop(name.KindClaim, "data-c-0-1"); w.kill("c-0-1") }, []string{
			"Ready: False PersistentVolumeClaimPending", "PersistentVolumeClaimReady: False PersistentVolumeClaimPending", "PersistentVolumeClaimSizeReady: False PersistentVolumeClaimResizePending",
		}, "Claim data-c-0-1 is missing"},
		"with a claim that is not bound": {durableSpec, func(w *world) {
			w.claim("data-c-0-1").Phase = corev1.ClaimPending
			w.pod("c-0-1").Ready = false
		}, []string{
			"Ready: False PersistentVolumeClaimPending", "PersistentVolumeClaimReady: False PersistentVolumeClaimPending", "PersistentVolumeClaimSizeReady: False PersistentVolumeClaimResizePending",
		}, "not bound"},
		"about to grow":                {durableSpec, func(w *world) { grow(w) }, []string{"Ready: True PodRunning", "PersistentVolumeClaimSizeReady: False PersistentVolumeClaimResizePending"}, ""},
		"growing":                      {durableSpec, func(w *world) { grow(w).Resize = ResizeInProgress }, []string{"PersistentVolumeClaimSizeReady: False PersistentVolumeClaimResizeInProgress"}, ""},
		"that cannot grow":             {durableSpec, func(w *world) { grow(w).Resize = ResizeInfeasible }, []string{"PersistentVolumeClaimSizeReady: False PersistentVolumeClaimResizeInfeasible"}, ""},
		"that has grown":               {durableSpec, func(w *world) { grow(w).Capacity = resource.MustParse("20Gi") }, []string{"PersistentVolumeClaimSizeReady: True PersistentVolumeClaimSizeSatisfied"}, ""},
		"that refuses live directives": {cacheSpec, func(w *world) { w.refuse("c-0-1", "ERR no") }, []string{"Ready: True PodRunning", "LiveConfigApplied: False ApplyFailed"}, ""},
		"without live directives": {cacheSpec, func(w *world) {
			known := w.o.Settings["c-0-1"]
			known.LiveConfig = nil
			w.o.Settings["c-0-1"] = known
		}, []string{"LiveConfigApplied:"}, ""},
		"with users that are yet to come": {cacheSpec + "tls: {}\n", func(w *world) { delete(w.o.Settings, "c-0-1") }, []string{"ACLApplied: False Pending", "TLSReloaded: False Pending"}, ""},
		"with a Secret missing": {cacheSpec, func(w *world) {
			w.o.Settings["c-0-1"] = Settings{ACL: &Setting{Reason: v1alpha1.ReasonSecretMissing, Message: "Secret x"}}
		}, []string{"ACLApplied: False SecretMissing"}, ""},
		"that hibernates": {durableSpec, func(w *world) { w.c.Spec.Hibernate = true; w.o.Pods, w.o.View = nil, nil }, []string{"Ready: False PodNotReady"}, "hibernates"},
	} {
		t.Run(title, func(t *testing.T) {
			w := healthy(t, test.spec)
			test.change(w)
			node := w.compute().Nodes[1]
			if node.Name != "c-0-1" || node.Spec != (v1alpha1.ValkeyNodeSpec{Cluster: "c", Index: 1}) {
				t.Fatalf("%+v", node)
			}
			for _, want := range test.want {
				kind, value, _ := strings.Cut(want, ":")
				if got := says(node.Status.Conditions, kind); got != strings.TrimSpace(value) {
					t.Errorf("%s: %q, want %q", kind, got, strings.TrimSpace(value))
				}
			}
			ready := find(node.Status.Conditions, v1alpha1.ConditionReady)
			if !strings.Contains(ready.Message, test.says) || node.Status.Ready != (ready.Status == "True") {
				t.Errorf("%v: %q does not say %q", node.Status.Ready, ready.Message, test.says)
			}
		})
	}
}

// TestANodeThatIsSilentStaysWhatItWas, but for a primary that another has replaced.
func TestANodeThatIsSilentStaysWhatItWas(t *testing.T) {
	w := healthy(t, cacheSpec)
	w.kill("c-1-0")
	w.settle()
	was := w.o.Nodes[2].Status
	if was.Role != v1alpha1.RolePrimary || was.NodeID != id("c-1-0") || was.PodIP != "" || was.Slots != "5461-10922" {
		t.Errorf("%+v", was)
	}
	w.promote("c-1-1", "c-1-0")
	w.settle()
	if is := w.o.Nodes[2].Status; is.Role != v1alpha1.RoleReplica || is.Slots != "" {
		t.Errorf("%+v", is)
	}
	if is := w.o.Nodes[3].Status; is.Role != v1alpha1.RolePrimary || is.Slots != "5461-10922" {
		t.Errorf("%+v", is)
	}
}

// TestEveryFailureToSetIsTold: once when it is first seen, and once for each Job that has
// tried again.
func TestEveryFailureToSetIsTold(t *testing.T) {
	w := healthy(t, cacheSpec)
	w.refuse("c-0-0", "ERR no")
	for i, want := range [][]string{{"LiveConfigApplyFailed c-0-0"}, nil} {
		if got := told(w.settle().Events); !slices.Equal(got, want) {
			t.Errorf("look %d: %v", i, got)
		}
	}
	for range 2 {
		w.c.Status.ActiveJobs = []v1alpha1.ActiveJob{{Name: "c-liveconfig-1", Kind: "liveconfig"}}
		w.o.Jobs = []Job{ended("liveconfig", 1, &outcome.Outcome{Result: outcome.Blocked, Message: "refused"})}
		if got := told(w.settle().Events); !slices.Equal(got, []string{"LiveConfigApplyFailed c-0-0"}) {
			t.Errorf("after a Job: %v", got)
		}
	}
}

func TestWarnings(t *testing.T) {
	no := false
	for title, test := range map[string]struct {
		spec   string
		change func(*world)
		reason string
		says   []string
	}{
		"none":                               {cacheSpec, nil, "", nil},
		"a short grace period":               {cacheSpec + "pod: {terminationGracePeriodSeconds: 5}\n", nil, v1alpha1.ReasonGracePeriodTooShort, []string{"is 5"}},
		"two shards":                         {"shards: 2\n", nil, v1alpha1.ReasonNoMajority, []string{"2 shards"}},
		"durable without replicas":           {durableSpec + "replicasPerShard: 0\n", nil, v1alpha1.ReasonDataNotReplicated, nil},
		"a cache without replicas":           {cacheSpec + "replicasPerShard: 0\n", nil, "", nil},
		"no guard":                           {cacheSpec, func(w *world) { w.o.Guard = &no }, v1alpha1.ReasonGuardMissing, []string{"admission policies"}},
		"no guard and none wanted":           {cacheSpec + "deletionPolicy: Allow\n", func(w *world) { w.o.Guard = &no }, "", nil},
		"an empty shard":                     {cacheSpec + "rebalance: {enabled: false}\n", func(w *world) { w.disown("c-2-0", 0, 16383); w.own("c-1-0", 10923, 16383) }, v1alpha1.ReasonShardEmpty, []string{"shard 2", "reshard"}},
		"an empty shard that will get slots": {cacheSpec, func(w *world) { w.disown("c-2-0", 0, 16383); w.own("c-1-0", 10923, 16383) }, "", nil},
		"two at once":                        {"shards: 1\npod: {terminationGracePeriodSeconds: 5}\n", nil, v1alpha1.ReasonGracePeriodTooShort, []string{"is 5", "1 shards"}},
	} {
		t.Run(title, func(t *testing.T) {
			w := healthy(t, test.spec)
			if test.change != nil {
				test.change(w)
			}
			r := w.compute()
			c := find(r.Status.Conditions, v1alpha1.ConditionConfigurationWarning)
			if test.reason == "" {
				if c != nil {
					t.Errorf("%+v", c)
				}
				return
			}
			if c == nil || c.Status != "True" || c.Reason != test.reason {
				t.Fatalf("%+v", c)
			}
			for _, part := range test.says {
				if !strings.Contains(c.Message, part) {
					t.Errorf("%q does not say %q", c.Message, part)
				}
			}
			if r.Status.State != v1alpha1.StateReady {
				t.Errorf("%s %s: a warning is no trouble", r.Status.State, r.Status.Message)
			}
		})
	}
}

func TestTheGracePeriodIsToldOnce(t *testing.T) {
	w := rendered(t, cacheSpec+"pod: {terminationGracePeriodSeconds: 5}\n")
	if got := told(w.settle().Events); !slices.Contains(got, v1alpha1.EventGracePeriodTooShort) {
		t.Error(got)
	}
	if got := told(w.settle().Events); len(got) > 0 {
		t.Error(got)
	}
}

// own gives slots to a primary.
func (w *world) own(primary string, first, last int) {
	for i := range w.o.View.Answers {
		for j := range w.o.View.Answers[i].Nodes {
			if e := &w.o.View.Answers[i].Nodes[j]; e.ID == id(primary) {
				e.Slots = e.Slots.Plus(ranges(first, last))
			}
		}
	}
}
