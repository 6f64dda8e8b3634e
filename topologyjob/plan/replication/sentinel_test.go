// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package replication

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/topologyjob/plan"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// sentinel i watches pod of, none when negative, and knows everything.
func sentinel(i, of int, changes ...func(*survey.Watched)) survey.Sentinel {
	s := survey.Sentinel{Pod: survey.Pod{Name: fmt.Sprintf("c-sentinel-%d", i), Index: int32(i), Host: fmt.Sprintf("10.0.1.%d", i), Port: 26379}, ID: fmt.Sprintf("s%d", i)}
	if of < 0 {
		return s
	}
	w := &survey.Watched{
		Known:  survey.Known{Endpoint: survey.Endpoint{Host: host(of), Port: 6379}, Flags: []string{"master"}, Role: "master"},
		Quorum: 2, DownAfter: 5 * time.Second, FailoverTimeout: time.Minute,
	}
	for other := range 3 {
		if other != i {
			w.Sentinels = append(w.Sentinels, survey.Known{Endpoint: survey.Endpoint{Host: fmt.Sprintf("10.0.1.%d", other), Port: 26379}, ID: fmt.Sprintf("s%d", other), Flags: []string{"sentinel"}})
		}
		if other != of {
			w.Replicas = append(w.Replicas, survey.Known{Endpoint: survey.Endpoint{Host: host(other), Port: 6379}, Flags: []string{"slave"}, Priority: 100})
		}
	}
	for _, c := range changes {
		c(w)
	}
	s.Watched = w
	return s
}

func down(d time.Duration) func(*survey.Watched) {
	return func(w *survey.Watched) { w.Flags, w.DownFor = []string{"s_down", "master"}, d }
}

func three(of int, changes ...func(*survey.Watched)) []survey.Sentinel {
	return []survey.Sentinel{sentinel(0, of, changes...), sentinel(1, of, changes...), sentinel(2, of, changes...)}
}

func silent(i int) survey.Sentinel {
	s := sentinel(i, -1)
	s.Problem = &survey.Problem{Code: survey.Unreachable, Message: "timeout"}
	return s
}

func TestSentinel(t *testing.T) {
	lost := func() []survey.Answer { return altered(healthy(), 0, gone(survey.Stopped)) }
	moved := []survey.Answer{server(0, has(9, "A", 90)), server(1, has(9, "A", 90), cut(2*time.Minute)), server(2, has(9, "A", 90), cut(2*time.Minute))}
	barredPods := altered(healthy(), 2, with(func(r *survey.Replication) { r.Priority = 0 }))
	stranger := func(k survey.Known) func(*survey.Watched) {
		return func(w *survey.Watched) { w.Sentinels = append(w.Sentinels, k) }
	}
	gone40 := survey.Known{Endpoint: survey.Endpoint{Host: "10.0.1.9", Port: 26379}, ID: "s9", Flags: []string{"s_down", "sentinel"}, DownFor: 40 * time.Second}
	oldReplica := func(flags string, d time.Duration) func(*survey.Watched) {
		return func(w *survey.Watched) {
			w.Replicas = append(w.Replicas, survey.Known{Endpoint: survey.Endpoint{Host: "10.0.0.99", Port: 6379}, Flags: []string{flags, "slave"}, DownFor: d})
		}
	}
	for _, c := range []struct {
		name        string
		desired     plan.Desired
		servers     []survey.Answer
		sentinels   []survey.Sentinel
		check, want string
	}{
		{"well", plan.Desired{}, healthy(), three(0), "", "nothing to do"},
		{"no majority of sentinels", plan.Desired{}, healthy(), []survey.Sentinel{sentinel(0, 0), silent(1), silent(2)}, "", "1 of 3 sentinels answer, which is no majority"},
		{"they know nothing", plan.Desired{}, healthy(), three(-1), "watch", "would: have 3 sentinels watch c-0-0 with quorum 2"},
		{"nothing is formed", plan.Desired{}, []survey.Answer{server(0), server(1), server(2)}, three(-1), "bootstrap", "would: promote c-0-0"},
		{"not told everything", plan.Desired{}, healthy(), []survey.Sentinel{sentinel(0, 0), sentinel(1, 0, func(w *survey.Watched) { w.Quorum = 1000 }), sentinel(2, 0)}, "watch", "would: have 1 sentinels watch c-0-0"},
		{"a failover", plan.Desired{}, lost(), three(0, func(w *survey.Watched) { w.Flags = []string{"failover_in_progress"} }), "", "a failover is under way"},
		{"they have time", plan.Desired{}, lost(), three(0, down(20*time.Second)), "", "watches 10.0.0.1:6379, which is no primary, and has 50s to promote another"},
		{"they had it", plan.Desired{}, lost(), three(0, down(80*time.Second)), "authority", "would: have 3 sentinels watch nothing"},
		{"shorter, by patience", plan.Desired{Patience: time.Second}, lost(), three(0, down(2*time.Second)), "authority", "would: have 3 sentinels watch nothing"},
		{"one has not", plan.Desired{}, lost(), append(three(0, down(80*time.Second))[:2], sentinel(2, 0, down(time.Second))), "", "sentinel c-sentinel-2 watches"},
		{"taken from them", plan.Desired{}, lost(), three(-1), "", "pod c-0-1 is in sync"},
		{"what they watch is a replica", plan.Desired{}, moved, three(0, func(w *survey.Watched) { w.Role, w.RoleFor = "slave", 10*time.Second }), "", "has 1m0s to promote another"},
		{"they see it down and it answers", plan.Desired{}, healthy(), three(0, down(time.Hour)), "", "takes c-0-0 for down, which answers"},
		{"one looks elsewhere", plan.Desired{}, healthy(), append(three(0)[:2], sentinel(2, 1)), "", "sentinel c-sentinel-2 still watches 10.0.0.2:6379"},
		{"one looks elsewhere for long", plan.Desired{}, healthy(), append(three(0)[:2], sentinel(2, 1, down(80*time.Second))), "watch", "would: have 1 sentinels watch c-0-0"},
		{"two look elsewhere", plan.Desired{}, healthy(), []survey.Sentinel{sentinel(0, 0), sentinel(1, 1), sentinel(2, 1)}, "", "which is no primary"},
		{"they are about to demote the old one", plan.Desired{}, []survey.Answer{server(0, has(9, "B", 95), primary("A", 90)), server(1, has(9, "A", 99), primary("F", 1), replicas(2)), server(2, has(9, "A", 99), follows(1))}, three(0), "", "are about to make c-0-1 its replica"},
		{"an empty pod is attached", plan.Desired{}, append(healthy()[:2], server(2)), three(0), "attach", "would: attach c-0-2 to c-0-0"},
		{"they do not know each other", plan.Desired{}, healthy(), three(0, func(w *survey.Watched) { w.Sentinels = nil }), "", "sentinel c-sentinel-0 does not know c-sentinel-1 yet"},
		{"they do not know a replica", plan.Desired{}, healthy(), three(0, func(w *survey.Watched) { w.Replicas = w.Replicas[:1] }), "", "sentinel c-sentinel-0 does not know replica c-0-2 yet"},
		{"a sentinel that is gone", plan.Desired{}, healthy(), three(0, stranger(gone40)), "stale", "would: reset c-sentinel-0; because sentinel c-sentinel-0 knows sentinel 10.0.1.9:26379"},
		{"one that is going", plan.Desired{}, healthy(), three(0, stranger(survey.Known{Endpoint: gone40.Endpoint, ID: "s9", Flags: []string{"sentinel"}})), "", "still knows sentinel 10.0.1.9:26379, which is to be forgotten in 30s"},
		{"a replica that is gone", plan.Desired{}, healthy(), three(0, oldReplica("s_down", time.Hour)), "stale", "would: reset c-sentinel-0"},
		{"a replica of somebody else", plan.Desired{}, healthy(), three(0, oldReplica("x", 0)), "", "nothing to do"},
		{"not while a pod is away", plan.Desired{}, altered(healthy(), 2, gone(survey.Stopped)), three(0, stranger(gone40)), "", "waiting: pod c-0-2"},
		{"handed over by them", plan.Desired{Vacate: []string{"c-0-0"}}, healthy(), three(0), "handover", "would: hand over from c-0-0 by Sentinel"},
		{"not to one that goes", plan.Desired{Vacate: []string{"c-0-0", "c-0-2"}}, healthy(), three(0), "handover", "would: set replica-priority 0 on 1 pods"},
		{"until they have heard", plan.Desired{Vacate: []string{"c-0-0", "c-0-2"}}, barredPods, three(0), "", "has not yet heard that c-0-2 must not be promoted"},
		{"and then", plan.Desired{Vacate: []string{"c-0-0", "c-0-2"}}, barredPods, three(0, func(w *survey.Watched) { w.Replicas[1].Priority = 0 }), "handover", "by Sentinel"},
		{"undone", plan.Desired{ReplicaPriority: 50}, barredPods, three(0), "priority", "would: set replica-priority 50 on 1 pods"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := c.desired
			d.Topology, d.Shards, d.Replicas, d.Sentinels, d.Quorum = v1alpha1.TopologySentinel, 1, 2, 3, 2
			p := Decide(d, survey.View{Topology: d.Topology, Answers: c.servers, Sentinels: c.sentinels})
			if p.Check != c.check || !strings.Contains(p.String(), c.want) {
				t.Errorf("check %q, not %q: %s\nlacks %q", p.Check, c.check, p, c.want)
			}
		})
	}
}
