// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

//go:build cluster

package e2e

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
)

// kept is a Standalone with a volume that the StatefulSet controller rolls.
func kept(mode, more string) string {
	return `{topology: Standalone, profile: Durable, rollout: {mode: StatefulSet}, deletionPolicy: Allow, storage: {size: 1Gi, mode: ` + mode + `},
  resources: {requests: {cpu: 10m, memory: 256Mi}, limits: {memory: 1Gi}}` + more + "}"
}

// TestClusterRollKeepsData: a change of the pod template rolls the pod, and the new one
// has the data; so has one that is made anew after the cluster was deleted.
func TestClusterRollKeepsData(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.apply(p.spec(kept("both", "")), waited()...)
	v, host, password := p.visitor(), "cache."+p.namespace+".svc", p.password("cache-auth", "password")
	v.must(host, password, "OK", "SET", "greeting", "hello")
	first := p.pod("cache-0-0").UID

	rolled := p.spec(kept("both", ", config: {tcp-backlog: '256'}"))
	p.apply(rolled, waited()...)
	second := p.pod("cache-0-0")
	if second.UID == first || !ready(second) || restarts(second) != 0 {
		t.Errorf("--wait ended, and the pod is %s, was %s: %+v", second.UID, first, second.Status)
	}
	v.soon(host, password, "hello", "GET", "greeting")
	v.must(host, password, "OK", "SET", "greeting", "hello again")

	claim := p.claim("data-cache-0-0")
	p.deleted(rolled)
	if after := p.claim("data-cache-0-0"); after.UID != claim.UID || after.DeletionTimestamp != nil {
		t.Fatalf("the claim went too: %+v", after)
	}
	p.apply(rolled, waited()...)
	v.soon(host, password, "hello again", "GET", "greeting")
	if after := p.claim("data-cache-0-0"); after.UID != claim.UID || restarts(p.pod("cache-0-0")) != 0 {
		t.Errorf("it is another claim: %+v", after)
	}
}

// deleted deletes a cluster with the program and waits for its pods to go.
func (p *place) deleted(spec []string) {
	p.Helper()
	if o := p.program(append(append([]string{"delete"}, spec...), "--wait", "--timeout", patience.String())...); o.code != 0 {
		p.Fatalf("delete: exit status %d\n%s%s", o.code, o.out, o.errOut)
	}
	p.until(patience, func() error {
		err := p.api.Get(p.Context(), types.NamespacedName{Namespace: p.namespace, Name: "cache-0-0"}, &corev1.Pod{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return errors.Join(errors.New("the pod is still there"), err)
	})
}

// TestClusterLoadingIsNotReadyAndNotKilled: a server that loads its data for long is given
// no traffic, is not restarted, and has all of it in the end. What makes it load for long
// are writes that take a fraction of a millisecond each and are written down as they were
// given: loading them takes as long as making them took.
func TestClusterLoadingIsNotReadyAndNotKilled(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.apply(p.spec(kept("aof", "")), waited()...)
	v, host, password := p.visitor(), "cache."+p.namespace+".svc", p.password("cache-auth", "password")
	v.must(host, password, "OK", "EVAL", "for i = 1, 250 do redis.call('ZADD', 'a', i, 'a' .. i) redis.call('ZADD', 'b', i, 'b' .. i) end return redis.status_reply('OK')", "0")
	const writes = 25000
	script := fmt.Sprintf(`read -r VALKEYCLI_AUTH; export VALKEYCLI_AUTH REDISCLI_AUTH="$VALKEYCLI_AUTH"
awk 'BEGIN { for (i = 0; i < %d; i++) { print "ZUNIONSTORE sum 2 a b"; print "INCR count" } }' | valkey-cli -h %s >/dev/null`, writes, host)
	if out, err := v.exec("visitor", password+"\n", "sh", "-c", script); err != nil {
		t.Fatal(out, err)
	}

	old := p.pod("cache-0-0")
	if err := p.api.Delete(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	loading, alive := 0, 0
	p.until(patience, func() error {
		pod, err := p.newer("cache-0-0", old.UID)
		if err != nil {
			return err
		}
		if n := restarts(pod); n > 0 {
			t.Fatalf("it was restarted while it loaded: %+v", pod.Status.ContainerStatuses)
		}
		if ready(pod) {
			return nil
		}
		if out, err := p.exec(pod.Name, "", "/bin/sh", "/valkey/scripts/probe.sh", "readiness"); err != nil && strings.Contains(out, "LOADING") {
			loading++
			// It answers now and then while it loads; on a busy machine not in the time of one
			// probe. The kubelet restarts it after several of those, which is looked at above.
			switch out, err := p.exec(pod.Name, "", "/bin/sh", "/valkey/scripts/probe.sh", "liveness"); {
			case err == nil:
				alive++
			case !strings.Contains(out, "in time"):
				t.Errorf("it loads and is not alive: %v: %s", err, out)
			}
		}
		return errors.New("it is not Ready")
	})
	if loading < 2 || alive == 0 {
		t.Errorf("it was seen loading %d times, and alive then %d times, which is too few to mean anything", loading, alive)
	}
	v.soon(host, password, fmt.Sprint(writes), "GET", "count")
	v.must(host, password, "500", "ZCARD", "sum")
	if n := restarts(p.pod("cache-0-0")); n != 0 {
		t.Errorf("%d restarts", n)
	}
}

// newer is a pod that is not the one of an earlier UID.
func (p *place) newer(name string, old types.UID) (*corev1.Pod, error) {
	pod := &corev1.Pod{}
	if err := p.api.Get(p.Context(), types.NamespacedName{Namespace: p.namespace, Name: name}, pod); err != nil {
		return nil, err
	}
	if pod.UID == old {
		return nil, fmt.Errorf("%s is the old one", name)
	}
	return pod, nil
}
