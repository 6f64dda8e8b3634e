// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/internal/apitest"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/acl"
	"github.com/valkey-render/valkey-render/topologyjob/job"
)

// asks asks for something by annotation.
func (r *rig) asks(key types.NamespacedName, annotation, value string) {
	r.Helper()
	c := &v1alpha1.ValkeyCluster{}
	if err := r.admin.Get(r.Context(), key, c); err != nil {
		r.Fatal(err)
	}
	next := c.DeepCopy()
	next.Annotations[annotation] = value
	if err := r.admin.Patch(r.Context(), next, client.MergeFrom(c)); err != nil {
		r.Fatal(err)
	}
}

// action waits for how an action ends.
func (r *rig) action(key types.NamespacedName, called, token, result string) v1alpha1.ActionStatus {
	r.Helper()
	var a v1alpha1.ActionStatus
	r.until(called+" "+result, func() error {
		s := r.seen(key)
		i := slices.IndexFunc(s.Actions, func(a v1alpha1.ActionStatus) bool { return a.Name == called && a.Token == token })
		if i < 0 || s.Actions[i].Result != result {
			return fmt.Errorf("%+v", s.Actions)
		}
		a = s.Actions[i]
		return nil
	})
	return a
}

// events waits for events of reasons.
func (r *rig) events(reasons ...string) {
	r.Helper()
	r.until("events", func() error {
		var list eventsv1.EventList
		if err := r.admin.List(r.Context(), &list, client.InNamespace(r.namespace)); err != nil {
			return err
		}
		missing := slices.DeleteFunc(slices.Clone(reasons), func(reason string) bool {
			return slices.ContainsFunc(list.Items, func(e eventsv1.Event) bool { return e.Reason == reason })
		})
		if len(missing) > 0 {
			return fmt.Errorf("no %s", strings.Join(missing, ", "))
		}
		return nil
	})
}

// TestAPIServerARestartReplacesEveryPod once, and says so; a failover, asked for later, is
// one Job.
func TestAPIServerARestartReplacesEveryPod(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.nodes()
	key := r.cluster("cache", 1)
	r.reconcile(r.limited(), 0)
	r.state(key, v1alpha1.StateReady)
	pod := func(index int32) *corev1.Pod {
		p := &corev1.Pod{}
		if err := r.admin.Get(t.Context(), types.NamespacedName{Namespace: r.namespace, Name: name.Pod("cache", 0, index)}, p); err != nil {
			t.Fatal(err)
		}
		return p
	}
	before := []types.UID{pod(0).UID, pod(1).UID}
	// Times of the API are whole seconds: a pod of the second in which it is asked is new.
	r.until("a second after the pods", func() error {
		for index := range int32(2) {
			if age := time.Since(pod(index).CreationTimestamp.Time); age < time.Second {
				return fmt.Errorf("pod %d is %s old", index, age)
			}
		}
		return nil
	})
	r.asks(key, v1alpha1.AnnotationRestart, "1")
	a := r.action(key, "restart", "1", v1alpha1.ActionSucceeded)
	for index, was := range before {
		if pod(int32(index)).UID == was {
			t.Errorf("pod %d is the same: %+v", index, a)
		}
	}
	if n := r.wrote("create eviction"); n != 2 {
		t.Errorf("%d evictions: %s", n, strings.Join(r.writes, "; "))
	}
	r.state(key, v1alpha1.StateReady)
	r.asks(key, v1alpha1.AnnotationFailover, "1")
	r.action(key, "failover", "1", v1alpha1.ActionSucceeded)
	handovers := 0
	for _, w := range r.writes {
		if strings.HasPrefix(w, "create *v1.Job ") && strings.Contains(w, "-"+job.Handover+"-") {
			handovers++
		}
	}
	// One of them was the restart's.
	if handovers != 2 {
		t.Errorf("%d handovers: %s", handovers, strings.Join(r.writes, "; "))
	}
	r.asks(key, v1alpha1.AnnotationRestartShard, "7:1")
	if a := r.action(key, "restart-shard", "7:1", v1alpha1.ActionFailed); a.Message == "" {
		t.Errorf("%+v", a)
	}
	r.events(
		v1alpha1.EventActionStarted, v1alpha1.EventActionSucceeded, v1alpha1.EventActionFailed, v1alpha1.EventValkeyNodeUpdated,
		v1alpha1.EventInternalSecretsCreated, v1alpha1.EventFailoverInitiated,
	)
	r.rests(key)
}

// TestAPIServerPasswordsAreRotated though the reconciler is killed after every write, and at
// no moment a server refuses the password of the Secret.
func TestAPIServerPasswordsAreRotated(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.nodes()
	key := r.cluster("cache", 1)
	config := apitest.Config(t)
	stop, _ := r.reconcile(config, 0)
	r.state(key, v1alpha1.StateReady)
	r.rests(key)
	stop()
	first := r.password()
	r.asks(key, v1alpha1.AnnotationRotatePassword, `{"token":"1","overlap":"1s"}`)
	over := false
	for crashes := 0; !over; crashes++ {
		if crashes > 60 {
			t.Fatalf("no end: %+v, %s", r.seen(key).Actions, strings.Join(r.writes, "; "))
		}
		stop, crashed := r.reconcile(config, 2)
		r.until("crash or the end", func() error {
			r.admits(key, r.password())
			select {
			case <-crashed:
				return nil
			default:
			}
			s := r.seen(key)
			if over = len(s.ActiveJobs) == 0 && slices.ContainsFunc(s.Actions, func(a v1alpha1.ActionStatus) bool {
				return a.Name == "rotate-password" && a.Result == v1alpha1.ActionSucceeded
			}); over {
				return nil
			}
			return fmt.Errorf("%+v", s.Actions)
		})
		stop()
	}
	if r.password() == first {
		t.Error("the password is the same")
	}
	r.reconcile(r.limited(), 0)
	r.state(key, v1alpha1.StateReady)
	r.rests(key)
	r.model.mu.Lock()
	known := r.model.known[key]
	r.model.mu.Unlock()
	for user, l := range known.Logins {
		if len(l.Hashes) != 1 {
			t.Errorf("user %s has %d passwords", user, len(l.Hashes))
		}
	}
	r.events(v1alpha1.EventInternalSecretsUpdated)
}

// password is the one of the default user.
func (r *rig) password() string {
	r.Helper()
	s := &corev1.Secret{}
	if err := r.admin.Get(r.Context(), types.NamespacedName{Namespace: r.namespace, Name: name.AuthSecret("cache")}, s); err != nil {
		r.Fatal(err)
	}
	return string(s.Data[v1alpha1.PasswordKey])
}

// admits fails the test when servers refuse a password of the default user.
func (r *rig) admits(key types.NamespacedName, password string) {
	r.Helper()
	hash, err := acl.Hash([]byte(password))
	if err != nil {
		r.Fatal(err)
	}
	r.model.mu.Lock()
	defer r.model.mu.Unlock()
	if l := r.model.known[key].Logins[acl.DefaultUser]; !slices.Contains(l.Hashes, hash) {
		r.Fatalf("servers refuse the password of the Secret: %s", strings.Join(r.writes, "; "))
	}
}
