// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/slot"
)

var (
	idA = strings.Repeat("a", 40)
	idB = strings.Repeat("b", 40)
	idC = strings.Repeat("c", 40)
)

// script answers by command, each server by its IP.
type script map[string]map[string]any

type scripted struct{ answers map[string]any }

func (s script) Dial(_ context.Context, address node.Address) (node.Conn, error) {
	answers, found := s[address.IP]
	if !found {
		return nil, errors.New("connection refused")
	}
	if err, refused := answers["dial"].(error); refused {
		return nil, err
	}
	return &scripted{answers}, nil
}

func (c *scripted) Close() {}

func (c *scripted) Do(ctx context.Context, commands ...node.Command) []node.Reply {
	replies := make([]node.Reply, len(commands))
	for i, command := range commands {
		switch answer := c.answers[command.String()].(type) {
		case nil:
			<-ctx.Done()
			replies[i].Err = ctx.Err()
		case error:
			replies[i].Err = answer
		default:
			replies[i].Value = answer
		}
	}
	return replies
}

// good are the answers of a healthy primary.
func good() map[string]any {
	return map[string]any{
		"CLUSTER MYID": idA, "CLUSTER NODES": idA + " 10.0.0.1:6379@16379 myself,master - 0 0 1 connected 0-5460\n" + idB + " 10.0.0.2:6379@16379 slave " + idA + " 0 0 1 connected\n",
		"CLUSTER INFO": "cluster_state:ok\r\ncluster_current_epoch:6\r\n",
		"INFO server replication persistence keyspace": "valkey_version:8.1.1\r\nserver_time_usec:70000000\r\nuptime_in_seconds:50\r\nrole:master\r\nmaster_replid:x\r\nmaster_repl_offset:42\r\naof_enabled:1\r\ndb0:keys=5,expires=0\r\n",
		"CONFIG GET save": []any{"save", ""},
	}
}

func with(name string, answer any) map[string]any {
	answers := good()
	answers[name] = answer
	return answers
}

func TestTakeReadsAnswers(t *testing.T) {
	v := Asker{Pool: node.NewPool(script{"10.0.0.1": good()})}.Take(t.Context(), []Pod{{Name: "c-0-0", Host: "10.0.0.1", Port: 6379}})
	want := Answer{
		Pod: Pod{Name: "c-0-0", Host: "10.0.0.1", Port: 6379}, Address: node.Address{IP: "10.0.0.1", Port: 6379},
		ID: idA, Now: 70000, Uptime: 50 * time.Second, Version: "8.1.1", Keys: 5, Offset: 42, ReplicationID: "x", Persists: true, StateOK: true, CurrentEpoch: 6,
		Nodes: []node.Entry{
			{ID: idA, IP: "10.0.0.1", Port: 6379, BusPort: 16379, Myself: true, Epoch: 1, Linked: true, Slots: slot.Ranges{{First: 0, Last: 5460}}},
			{ID: idB, IP: "10.0.0.2", Port: 6379, BusPort: 16379, Replica: true, Primary: idA, Epoch: 1, Linked: true},
		},
	}
	if diff := cmp.Diff(want, v.Answers[0]); diff != "" {
		t.Error(diff)
	}
	data, err := json.Marshal(v)
	var back View
	if err == nil {
		err = json.Unmarshal(data, &back)
	}
	if diff := cmp.Diff(v, back); diff != "" || err != nil {
		t.Errorf("as JSON: %v\n%s", err, diff)
	}
}

func TestTakeSaysWhyAPodToldNothing(t *testing.T) {
	refuse := func(words string) error { return &node.RefusedError{Words: words} }
	for _, test := range []struct {
		name    string
		host    string
		answers map[string]any
		want    Code
	}{
		{"nobody listens", "10.0.0.9", nil, Unreachable},
		{"silence", "10.0.0.1", with("CLUSTER INFO", nil), Unreachable},
		{"no such name", "gone.example", nil, Unresolved},
		{"a name for nonsense", "odd.example", nil, Unresolved},
		{"loading", "10.0.0.1", with("CLUSTER MYID", refuse("LOADING Valkey is loading the dataset in memory")), Loading},
		{"wrong password", "10.0.0.1", map[string]any{"dial": refuse("WRONGPASS invalid username-password pair")}, Denied},
		{"a command that is not ours", "10.0.0.1", with("CONFIG GET save", refuse("NOPERM no permissions")), Denied},
		{"wrong CA", "10.0.0.1", map[string]any{"dial": errors.New("tls: failed to verify certificate: x509: certificate signed by unknown authority")}, Denied},
		{"no cluster mode", "10.0.0.1", with("CLUSTER NODES", refuse("This instance has cluster support disabled")), NotCluster},
		{"nonsense", "10.0.0.1", with("CLUSTER NODES", "what"), Unreadable},
		{"another kind of reply", "10.0.0.1", with("CLUSTER NODES", int64(5)), Unreadable},
		{"two IDs", "10.0.0.1", with("CLUSTER MYID", idB), Unreadable},
		{"no epoch", "10.0.0.1", with("CLUSTER INFO", "cluster_state:ok\r\n"), Unreadable},
		{"no time", "10.0.0.1", with("INFO server replication persistence keyspace", "role:master\r\nmaster_repl_offset:1\r\n"), Unreadable},
		{"no offset", "10.0.0.1", with("INFO server replication persistence keyspace", "role:master\r\n"), Unreadable},
	} {
		t.Run(test.name, func(t *testing.T) {
			asker := Asker{Pool: node.NewPool(script{"10.0.0.1": test.answers}), Timeout: 50 * time.Millisecond, Resolve: func(_ context.Context, host string) (string, error) {
				if host == "odd.example" {
					return "odd", nil
				}
				return "", errors.New("no such host")
			}}
			a := asker.Take(t.Context(), []Pod{{Name: "p", Host: test.host, Port: 6379}}).Answers[0]
			if a.Answered() || a.Problem.Code != test.want || a.Problem.Message == "" || a.ID != "" || a.Nodes != nil {
				t.Errorf("%+v %+v", a.Problem, a)
			}
		})
	}
}

// TestTakeDialsThePod: the certificate is checked for the name that was looked up, and no
// address of CLUSTER NODES is used.
func TestTakeDialsThePod(t *testing.T) {
	asker := Asker{Pool: node.NewPool(script{"fd00::7": good()}), Resolve: func(context.Context, string) (string, error) { return "fd00::7", nil }}
	v := asker.Take(t.Context(), []Pod{{Name: "a", Host: "c-0-0.c-nodes.ns.svc.cluster.local.", Port: 6379}, {Name: "b", Host: "fd00::7", Port: 6379, ServerName: "other"}})
	if diff := cmp.Diff([]node.Address{
		{IP: "fd00::7", Port: 6379, Name: "c-0-0.c-nodes.ns.svc.cluster.local"}, {IP: "fd00::7", Port: 6379, Name: "other"},
	}, []node.Address{v.Answers[0].Address, v.Answers[1].Address}); diff != "" {
		t.Error(diff)
	}
}

func answer(id string, own node.Entry, others ...node.Entry) Answer {
	own.ID, own.Myself = id, true
	return Answer{ID: id, Nodes: append([]node.Entry{own}, others...)}
}

func TestOwners(t *testing.T) {
	set := func(first, last int) slot.Ranges { return slot.Ranges{{First: first, Last: last}} }
	for _, test := range []struct {
		name    string
		answers []Answer
		want    Owners
	}{
		{"a node speaks for itself", []Answer{
			answer(idA, node.Entry{Epoch: 1, Slots: set(0, 9)}),
			answer(idB, node.Entry{Epoch: 2, Slots: set(10, 16383)}, node.Entry{ID: idA, Epoch: 5, Slots: set(0, 16383)}),
		}, Owners{Slots: map[string]slot.Ranges{idA: set(0, 9), idB: set(10, 16383)}}},
		{"of the silent others speak", []Answer{
			answer(idA, node.Entry{Epoch: 1, Slots: set(0, 9)}, node.Entry{ID: idB, Epoch: 2, Slots: set(10, 16383)}),
			{Problem: &Problem{}},
		}, Owners{Slots: map[string]slot.Ranges{idA: set(0, 9), idB: set(10, 16383)}}},
		{"the higher epoch wins", []Answer{
			answer(idA, node.Entry{Epoch: 1, Slots: set(0, 16383)}), answer(idB, node.Entry{Epoch: 2, Slots: set(5, 9)}),
		}, Owners{Slots: map[string]slot.Ranges{idA: {{First: 0, Last: 4}, {First: 10, Last: 16383}}, idB: set(5, 9)}}},
		{"one epoch twice", []Answer{
			answer(idA, node.Entry{Epoch: 1, Slots: set(0, 16383)}), answer(idB, node.Entry{Epoch: 1, Slots: set(5, 9)}),
		}, Owners{Slots: map[string]slot.Ranges{idA: set(0, 16383)}, Contested: set(5, 9)}},
		{"one epoch twice, and a higher one after them", []Answer{
			answer(idA, node.Entry{Epoch: 5, Slots: set(0, 16383)}), answer(idB, node.Entry{Epoch: 5, Slots: set(5, 9)}), answer(idC, node.Entry{Epoch: 6, Slots: set(5, 8)}),
		}, Owners{Slots: map[string]slot.Ranges{idA: {{First: 0, Last: 4}, {First: 9, Last: 16383}}, idC: set(5, 8)}, Contested: set(9, 9)}},
		{"one epoch twice, and a higher one before them", []Answer{
			answer(idC, node.Entry{Epoch: 6, Slots: set(5, 8)}), answer(idA, node.Entry{Epoch: 5, Slots: set(0, 16383)}), answer(idB, node.Entry{Epoch: 5, Slots: set(5, 9)}),
		}, Owners{Slots: map[string]slot.Ranges{idA: {{First: 0, Last: 4}, {First: 9, Last: 16383}}, idC: set(5, 8)}, Contested: set(9, 9)}},
		{"nobody", []Answer{answer(idA, node.Entry{})}, Owners{Slots: map[string]slot.Ranges{}, Unassigned: slot.All()}},
	} {
		v := View{Answers: test.answers}
		if diff := cmp.Diff(test.want, v.Owners()); diff != "" {
			t.Errorf("%s\n%s", test.name, diff)
		}
	}
}

func TestBelieversAreWhoHasNotHeard(t *testing.T) {
	all, none := slot.All(), slot.Ranges(nil)
	v := View{Answers: []Answer{
		answer(idA, node.Entry{Epoch: 1, Slots: all}),
		answer(idB, node.Entry{}, node.Entry{ID: idA, Slots: none}),
	}}
	if diff := cmp.Diff(map[string]int{idB: 16384}, v.Believers(v.Owners())); diff != "" {
		t.Error(diff)
	}
	v.Answers[1].Nodes[1].Slots = all
	if wrong := v.Believers(v.Owners()); len(wrong) > 0 {
		t.Errorf("%v", wrong)
	}
}

func TestAtomicMigration(t *testing.T) {
	for version, want := range map[string]bool{"8.0.1": false, "8.1.1": false, "9.0.0": true, "9.1.2": true, "10.0.0": true, "": false, "x": false} {
		if AtomicMigration(version) != want {
			t.Errorf("%q: %v", version, !want)
		}
	}
}

func TestSilence(t *testing.T) {
	a := answer(idA, node.Entry{}, node.Entry{ID: idB, Pong: 60_000})
	a.Now, a.Uptime = 70_000, time.Minute
	if got := a.Silence(idB); got != 10*time.Second {
		t.Errorf("%s", got)
	}
	a.Uptime = 3 * time.Second
	if got := a.Silence(idB); got != 3*time.Second {
		t.Errorf("after a restart: %s", got)
	}
	if a.Silence(idA) != 0 || a.Silence("other") != 0 {
		t.Error("itself, or a stranger")
	}
}

// TestTakeSeesAFullCopy: a replica without a link may be on its way.
func TestTakeSeesAFullCopy(t *testing.T) {
	for link, want := range map[string][2]bool{
		"master_link_status:up\r\nmaster_sync_in_progress:0\r\n":   {true, false},
		"master_link_status:down\r\nmaster_sync_in_progress:1\r\n": {false, true},
		"master_link_status:down\r\nmaster_sync_in_progress:0\r\n": {false, false},
	} {
		answers := with("INFO server replication persistence keyspace", "valkey_version:8.1.1\r\nserver_time_usec:70000000\r\nuptime_in_seconds:50\r\nrole:slave\r\nmaster_replid:x\r\nslave_repl_offset:42\r\naof_enabled:1\r\n"+link)
		a := Asker{Pool: node.NewPool(script{"10.0.0.1": answers})}.Take(t.Context(), []Pod{{Name: "c-0-0", Host: "10.0.0.1", Port: 6379}}).Answers[0]
		if got := [2]bool{a.LinkUp, a.Syncing}; !a.Answered() || got != want {
			t.Errorf("%q: %v, %+v", link, got, a.Problem)
		}
	}
}
