// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package replication

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/plan"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// change is made to a server of a case.
type change func(*survey.Answer)

func host(i int) string { return fmt.Sprintf("10.0.0.%d", i+1) }

// server is pod i: a replica of nobody without data, running for a minute.
func server(i int, changes ...change) survey.Answer {
	a := survey.Answer{
		Pod:     survey.Pod{Name: fmt.Sprintf("c-0-%d", i), Index: int32(i), Host: host(i), Port: 6379, Runs: survey.Running},
		Address: node.Address{IP: host(i), Port: 6379}, ID: fmt.Sprintf("run%d", i), Uptime: time.Minute, Offset: 1,
		ReplicationID: fmt.Sprintf("own%d", i), Replication: &survey.Replication{Follows: survey.Endpoint{Host: "127.0.0.1", Port: 1}, Priority: 100, Silence: time.Minute},
	}
	for _, c := range changes {
		c(&a)
	}
	return a
}

// has gives a server data of a history.
func has(keys int64, history string, offset int64) change {
	return func(a *survey.Answer) { a.Keys, a.ReplicationID, a.Offset = keys, history, offset }
}

// primary makes a server a primary, that was promoted from a history when there is one.
func primary(former string, offset int64) change {
	return func(a *survey.Answer) {
		a.Replication = &survey.Replication{Primary: true, FormerID: former, FormerOffset: offset, Priority: 100}
	}
}

// replicas are those in sync with a primary.
func replicas(pods ...int) change {
	return func(a *survey.Answer) {
		for _, i := range pods {
			a.Replication.Replicas = append(a.Replication.Replicas, survey.Follower{Endpoint: survey.Endpoint{Host: host(i), Port: 6379}, State: "online"})
		}
	}
}

// follows makes a server a replica in sync with pod i.
func follows(i int) change {
	return func(a *survey.Answer) {
		a.LinkUp = true
		a.Replication.Follows, a.Replication.Linked, a.Replication.Silence = survey.Endpoint{Host: host(i), Port: 6379}, true, 0
	}
}

// cut is how long a replica has been without its link.
func cut(d time.Duration) change {
	return func(a *survey.Answer) { a.LinkUp, a.Replication.Linked, a.Replication.Silence = false, true, d }
}

func up(d time.Duration) change { return func(a *survey.Answer) { a.Uptime = d } }

// gone makes a pod not answer.
func gone(runs survey.Runs) change {
	return func(a *survey.Answer) {
		a.Pod.Runs = runs
		*a = survey.Answer{Pod: a.Pod, Address: a.Address, Problem: &survey.Problem{Code: survey.Unreachable, Message: "timeout"}}
	}
}

func with(f func(*survey.Replication)) change { return func(a *survey.Answer) { f(a.Replication) } }

// scene is a case: what there is, and what the plan must say.
type scene struct {
	name    string
	desired plan.Desired
	servers []survey.Answer
	// check is the one that decides, want a part of the plan as a line.
	check, want string
}

func (c scene) run(t *testing.T) {
	t.Helper()
	d := c.desired
	if d.Topology == "" {
		d.Topology = v1alpha1.TopologyReplication
	}
	if d.Shards = 1; d.Replicas == 0 && d.Topology != v1alpha1.TopologyStandalone {
		d.Replicas = 2
	}
	p := Decide(d, survey.View{Topology: d.Topology, Answers: c.servers})
	if p.Check != c.check || !strings.Contains(p.String(), c.want) {
		t.Errorf("check %q, not %q: %s\nlacks %q", p.Check, c.check, p, c.want)
	}
	again := Decide(d, survey.View{Topology: d.Topology, Answers: c.servers})
	if again.String() != p.String() {
		t.Errorf("not the same twice: %s", again)
	}
}

func runAll(t *testing.T, scenes []scene) {
	for _, c := range scenes {
		t.Run(c.name, func(t *testing.T) { c.run(t) })
	}
}

// healthy are three servers as wanted.
func healthy() []survey.Answer {
	return []survey.Answer{
		server(0, has(9, "A", 90), primary("F", 10), replicas(1, 2)), server(1, has(9, "A", 90), follows(0)), server(2, has(9, "A", 90), follows(0)),
	}
}

func altered(servers []survey.Answer, i int, changes ...change) []survey.Answer {
	for _, c := range changes {
		c(&servers[i])
	}
	return servers
}

func TestNothingIsDoneToWhatIsWellOrUnknown(t *testing.T) {
	runAll(t, []scene{
		{"well", plan.Desired{}, healthy(), "", "nothing to do"},
		{"a replica away", plan.Desired{}, altered(healthy(), 2, gone(survey.Running)), "", "waiting: pod c-0-2 Unreachable"},
		{"nobody answers", plan.Desired{}, []survey.Answer{server(0, gone("")), server(1, gone("")), server(2, gone(""))}, "", "waiting: pod c-0-0 Unreachable"},
		{"a minority answers", plan.Desired{}, altered(altered(healthy(), 2, gone(survey.Running)), 1, gone("")), "", "1 of 3 pods answer, which is no majority"},
		{"those that do not run are no side", plan.Desired{}, altered(altered(healthy(), 2, gone(survey.Stopped)), 1, gone(survey.Stopped)), "", "waiting: pod c-0-1 Unreachable"},
		{"a FAILOVER", plan.Desired{}, altered(healthy(), 0, with(func(r *survey.Replication) { r.FailingOver = "waiting-for-sync" })), "settle", "see the FAILOVER of c-0-0 to its end"},
		{"a full disk", plan.Desired{}, altered(healthy(), 0, with(func(r *survey.Replication) { r.DiskError = "aof_last_write_status:err" })), "", "c-0-0 cannot write its data directory (aof_last_write_status:err)"},
		{"a replica that never syncs", plan.Desired{}, altered(healthy(), 1, cut(time.Hour)), "", "c-0-1 follows c-0-0 and is not in sync for 1h0m0s"},
		{"a copy", plan.Desired{}, altered(healthy(), 1, cut(0), with(func(r *survey.Replication) { r.Syncing = true })), "", "c-0-1 is copying c-0-0"},
		{"Standalone", plan.Desired{Topology: v1alpha1.TopologyStandalone}, []survey.Answer{server(0, primary("", 0))}, "", "nothing to do"},
	})
}

func TestBootstrap(t *testing.T) {
	fresh := func() []survey.Answer { return []survey.Answer{server(0), server(1), server(2)} }
	runAll(t, []scene{
		{"fresh", plan.Desired{}, fresh(), "bootstrap", "would: promote c-0-0; because there is no primary and every pod is empty"},
		{"one not there yet", plan.Desired{}, altered(fresh(), 2, gone("")), "", "c-0-2 does not answer and may still be the primary"},
		{"a Cache that lost everything", plan.Desired{Initialized: true}, fresh(), "bootstrap", "would: promote c-0-0"},
		{"Durable that lost everything", plan.Desired{Initialized: true, Durable: true}, fresh(), "bootstrap", "blocked: PrimaryDown: the topology was formed before and every pod is empty"},
		{"to begin anew", plan.Desired{Initialized: true, Durable: true, Keep: "c-0-1"}, fresh(), "bootstrap", "would: promote c-0-0"},
		{"not on one that goes", plan.Desired{Vacate: []string{"c-0-0"}}, fresh(), "bootstrap", "would: promote c-0-1"},
		{"empty and in sync is no beginning", plan.Desired{Initialized: true, Durable: true}, []survey.Answer{
			server(0), server(1, has(0, "A", 50), follows(0), cut(4*time.Second)), server(2, has(0, "A", 60), follows(0), cut(4*time.Second)),
		}, "elect", "would: promote c-0-2"},
		{"attached", plan.Desired{}, altered(fresh(), 0, primary("", 0)), "attach", "would: attach 2 replicas to c-0-0"},
		{"of somebody else", plan.Desired{}, altered(fresh(), 1, func(a *survey.Answer) {
			follows(8)(a)
		}), "bootstrap", "blocked: ForeignData: pod c-0-1 is in sync with 10.0.0.9:6379"},
		{"started as primaries", plan.Desired{}, []survey.Answer{server(0, primary("", 0)), server(1, primary("", 0)), server(2, primary("", 0))}, "primaries", "would: attach 2 replicas to c-0-0"},
		{"kept data of one", plan.Desired{}, altered(fresh(), 1, has(5, "own1", 1)), "elect", "would: promote c-0-1"},
	})
}

func TestElect(t *testing.T) {
	// lost is the topology without its primary.
	lost := func(runs survey.Runs) []survey.Answer {
		return []survey.Answer{server(0, gone(runs)), server(1, has(9, "A", 80), follows(0), cut(4*time.Second)), server(2, has(9, "A", 90), follows(0), cut(4*time.Second))}
	}
	pair := func(replica, other survey.Answer) []survey.Answer { return []survey.Answer{other, replica} }
	heir := func(silence time.Duration) survey.Answer {
		return server(1, has(9, "A", 80), follows(0), cut(silence))
	}
	loaded := server(0, has(9, "own0", 1), up(10*time.Second))
	runAll(t, []scene{
		{"the furthest", plan.Desired{}, lost(survey.Stopped), "elect", "would: promote c-0-2"},
		{"the lowest among equals", plan.Desired{}, altered(lost(survey.Stopped), 2, has(9, "A", 80)), "elect", "would: promote c-0-1"},
		{"not fenced", plan.Desired{}, lost(survey.Running), "", "pod c-0-0 does not answer and may still be the primary"},
		{"Kubernetes was not asked", plan.Desired{}, lost(""), "", "may still be the primary"},
		{"a replica hears of it", plan.Desired{}, altered(lost(survey.Stopped), 1, follows(0)), "", "pod c-0-1 is in sync with 10.0.0.1:6379"},
		{"a link that is silent", plan.Desired{}, altered(lost(survey.Stopped), 1, follows(0), with(func(r *survey.Replication) { r.Silence = 5 * time.Second })), "elect", "would: promote c-0-2"},
		{"never one of priority 0", plan.Desired{}, altered(lost(survey.Stopped), 1, with(func(r *survey.Replication) { r.Priority = 0 })), "elect", "would: promote c-0-2"},
		{"a disk that works", plan.Desired{}, altered(altered(lost(survey.Stopped), 2, has(9, "A", 80)), 1, with(func(r *survey.Replication) { r.DiskError = "x" })), "elect", "would: promote c-0-2"},
		{"never an empty one", plan.Desired{}, altered(lost(survey.Stopped), 2, has(0, "own2", 1)), "elect", "would: promote c-0-1"},
		{"the old one came back empty", plan.Desired{}, altered(lost(""), 0, func(a *survey.Answer) { *a = server(0) }), "elect", "would: promote c-0-2"},
		{"the newer history", plan.Desired{}, altered(lost(survey.Stopped), 1, has(9, "B", 30), with(func(r *survey.Replication) { r.FormerID, r.FormerOffset = "A", 20 })), "elect", "would: promote c-0-1"},
		{"unrelated", plan.Desired{}, altered(lost(survey.Stopped), 1, has(9, "B", 30)), "elect", "blocked: PrimaryDown: "},
		{"unrelated, chosen", plan.Desired{Keep: "c-0-1"}, altered(lost(survey.Stopped), 1, has(9, "B", 30)), "elect", "would: promote c-0-1"},
		{"a minority of Durable", plan.Desired{Durable: true}, altered(lost(survey.Stopped), 1, gone(survey.Stopped)), "", "the others may hold more"},
		{"a minority of a Cache", plan.Desired{}, altered(lost(survey.Stopped), 1, gone(survey.Stopped)), "elect", "would: promote c-0-2"},
		{"a pair", plan.Desired{Durable: true, Replicas: 1}, pair(heir(4*time.Second), server(0, gone(survey.Stopped))), "elect", "would: promote c-0-1"},
		{"a pair whose primary loaded its AOF", plan.Desired{Durable: true, Replicas: 1}, pair(heir(12*time.Second), loaded), "elect", "would: promote c-0-1"},
		{"a pair that was apart", plan.Desired{Durable: true, Replicas: 1}, pair(heir(time.Hour), loaded), "elect", "blocked: PrimaryDown: pod c-0-1 holds 9 keys of history A up to 80, and was cut off 59m50s before pod c-0-0 started"},
		{"all loaded an AOF", plan.Desired{Durable: true, Replicas: 1}, pair(server(1, has(9, "own1", 1)), loaded), "elect", "it cannot be told whose data is the newest: pod c-0-0 (9 keys), pod c-0-1 (9 keys)"},
		{"all loaded an AOF, chosen", plan.Desired{Durable: true, Replicas: 1, Keep: "c-0-1"}, pair(server(1, has(9, "own1", 1)), loaded), "elect", "would: promote c-0-1"},
		{"one has data, another is away", plan.Desired{Replicas: 2}, []survey.Answer{loaded, server(1), server(2, gone(survey.Stopped))}, "", "no pod that answers was ever in sync"},
	})
}

func TestSeveralPrimaries(t *testing.T) {
	old := server(0, has(9, "A", 95), primary("", 0))
	successor := server(1, has(9, "B", 120), primary("A", 90), replicas(2))
	third := server(2, has(9, "B", 120), follows(1))
	stranger := server(0, has(5, "X", 50), primary("", 0))
	runAll(t, []scene{
		{"the older follows, and what is lost is counted", plan.Desired{}, []survey.Answer{old, successor, third}, "primaries", "would: attach c-0-0 to c-0-1; because there are several primaries; pod c-0-0 took 5 bytes of writes that were never replicated"},
		{"the older has lost nothing", plan.Desired{}, []survey.Answer{altered([]survey.Answer{old}, 0, has(9, "A", 90))[0], successor, third}, "primaries", "would: attach c-0-0 to c-0-1; because there are several primaries"},
		{"promoted by mistake", plan.Desired{}, []survey.Answer{server(0, has(9, "A", 95), primary("", 0), replicas(2)), server(1, has(9, "B", 99), primary("A", 90)), server(2, has(9, "A", 95), follows(0))}, "primaries", "blocked: ForeignData"},
		{"of different histories", plan.Desired{}, []survey.Answer{stranger, successor, third}, "primaries", "blocked: ForeignData: pod c-0-0 holds 5 keys of history X up to 50, pod c-0-1 holds 9 keys of history B up to 120"},
		{"a human chose", plan.Desired{Keep: "c-0-0"}, []survey.Answer{stranger, successor, third}, "primaries", "would: attach c-0-1 to c-0-0"},
		{"an empty one follows", plan.Desired{}, []survey.Answer{server(0, primary("", 0)), successor, third}, "primaries", "would: attach c-0-0 to c-0-1"},
		{"an RDB that is part of it", plan.Desired{}, []survey.Answer{server(0, has(8, "Y", 70), primary("A", 70)), successor, third}, "primaries", "would: attach c-0-0 to c-0-1"},
		{"empty ones and a pod away", plan.Desired{}, []survey.Answer{server(0, primary("", 0)), server(1, primary("", 0)), server(2, gone(survey.Stopped))}, "", "several pods are empty primaries, and not every pod answers"},
	})
}

func TestAttach(t *testing.T) {
	fenced := func(changes ...change) []survey.Answer {
		servers := healthy()
		servers[2] = server(2, changes...)
		return servers
	}
	alone := func(p survey.Answer, x survey.Answer) []survey.Answer { return []survey.Answer{p, x} }
	runAll(t, []scene{
		{"an empty one", plan.Desired{}, fenced(), "attach", "would: attach c-0-2 to c-0-0"},
		{"one that is part of it", plan.Desired{}, fenced(has(8, "A", 80)), "attach", "would: attach c-0-2 to c-0-0"},
		{"one that is older", plan.Desired{}, fenced(has(8, "F", 80)), "attach", "would: attach c-0-2 to c-0-0"},
		{"one that loaded an AOF", plan.Desired{}, fenced(has(8, "own2", 1)), "attach", "would: attach c-0-2 to c-0-0"},
		{"one of another pod", plan.Desired{}, fenced(has(9, "A", 90), follows(1)), "attach", "would: attach c-0-2 to c-0-0"},
		{"not one beyond the wanted count", plan.Desired{Replicas: 1}, fenced(), "", "nothing to do"},
		{"data beside an empty primary", plan.Desired{Replicas: 1}, alone(server(0, primary("", 0)), server(1, has(9, "A", 90), follows(0), cut(time.Second))), "emptied", "would: fence c-0-0; because pod c-0-1 holds 9 keys of history A up to 90"},
		{"a primary that was emptied", plan.Desired{Replicas: 1}, alone(server(0, has(0, "A", 99), primary("F", 1)), server(1, has(9, "A", 90), follows(0))), "", "nothing to do"},
		{"data beside a primary with a little", plan.Desired{Replicas: 1}, alone(server(0, has(1, "Z", 9), primary("", 0), up(time.Second)), server(1, has(9, "A", 90))), "attach", "blocked: ForeignData: pod c-0-1 holds 9 keys"},
		{"the same, chosen", plan.Desired{Replicas: 1, Keep: "c-0-0"}, alone(server(0, has(1, "Z", 9), primary("", 0), up(time.Second)), server(1, has(9, "A", 90))), "attach", "would: attach c-0-1 to c-0-0"},
	})
}

func TestVacate(t *testing.T) {
	runAll(t, []scene{
		{"to the lowest", plan.Desired{Vacate: []string{"c-0-0"}}, healthy(), "handover", "would: hand over from c-0-0 to c-0-1; because the primary is to leave pod c-0-0"},
		{"not to one that goes", plan.Desired{Vacate: []string{"c-0-0", "c-0-1"}}, healthy(), "handover", "to c-0-2"},
		{"to one that is asked for", plan.Desired{Primary: "c-0-2"}, healthy(), "handover", "to c-0-2"},
		{"from one beyond the wanted count", plan.Desired{Replicas: 1}, []survey.Answer{server(0, has(9, "A", 90), follows(2)), server(1, has(9, "A", 90), follows(2)), server(2, has(9, "A", 90), primary("F", 1), replicas(0, 1))}, "handover", "from c-0-2 to c-0-0"},
		{"not to one that is cut off", plan.Desired{Vacate: []string{"c-0-0"}}, altered(healthy(), 1, cut(time.Second)), "handover", "to c-0-2"},
		{"not to one far behind", plan.Desired{Vacate: []string{"c-0-0"}}, altered(healthy(), 0, has(9, "A", 90+1<<20)), "", "c-0-0 cannot hand over"},
		{"to nobody", plan.Desired{Primary: "c-0-1"}, altered(healthy(), 1, gone(survey.Stopped)), "", "c-0-0 cannot hand over"},
	})
}
