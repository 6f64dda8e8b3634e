// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package converge_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/valkey-render/valkey-render/internal/clustermodel"
	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/slot"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// town are the pods of a scenario, who lives in them, what clients were promised, and what
// happens to all of them.
type town struct {
	*lab
	rand    *rand.Rand
	version string
	pods    []*pod
	// ips counts addresses.
	ips int
	// tags make keys of a slot.
	tags []string
	// acked are the versions of keys that must not get lost.
	acked map[string]int
	// wiped is whether a pod lost data that was nowhere else.
	wiped bool
	// lossy is whether that may happen.
	lossy bool
	// replaced is whether an owner of slots came back as another node.
	replaced bool
	// tookOver are the IDs of nodes that were replaced by a TAKEOVER, by that of the winner.
	tookOver map[string]string
}

// pod is a place with its server.
type pod struct {
	place  survey.Pod
	server *clustermodel.Server
}

func (t *town) pod(shard, index int32) *pod {
	for _, p := range t.pods {
		if p.place.Shard == shard && p.place.Index == index {
			return p
		}
	}
	return nil
}

// add makes a pod with a new, empty server.
func (t *town) add(shard, index int32) *pod {
	name := fmt.Sprintf("c-%d-%d", shard, index)
	p := &pod{
		place:  survey.Pod{Name: name, Shard: shard, Index: index, Host: name, Port: 6379, Runs: survey.Running, Node: fmt.Sprintf("n%d", (int(shard)+int(index))%3)},
		server: t.world.Add(name, t.version, t.address()),
	}
	t.pods = append(t.pods, p)
	return p
}

// address is one that nobody had.
func (t *town) address() string {
	t.ips++
	return fmt.Sprintf("10.0.%d.%d:6379", t.ips/250, t.ips%250+1)
}

// resolve is where a pod is now. A pod that is down keeps its name for a while.
func (t *town) resolve(_ context.Context, host string) (string, error) {
	for _, p := range t.pods {
		if p.place.Name == host {
			ip, _, _ := strings.Cut(p.server.Address(), ":")
			return ip, nil
		}
	}
	return "", errors.New("no such host")
}

// places are what a survey asks, with what Kubernetes says of the pods.
func (t *town) places() []survey.Pod {
	var places []survey.Pod
	for _, p := range t.pods {
		place := p.place
		place.Runs = survey.Running
		if !p.server.Up() {
			place.Runs = survey.Stopped
		}
		places = append(places, place)
	}
	return places
}

// trouble is something that happens to a pod.
func (t *town) trouble() {
	p := t.pods[t.rand.IntN(len(t.pods))]
	if !p.server.Up() {
		return
	}
	primaries := slices.DeleteFunc(slices.Clone(t.pods), func(p *pod) bool { return len(p.server.Owns()) == 0 || !p.server.Up() })
	switch t.rand.IntN(5) {
	case 0:
		t.restart(p, time.Duration(t.rand.IntN(500))*time.Millisecond)
	case 1:
		t.restart(p, time.Duration(t.rand.IntN(30))*time.Second)
	case 2, 3:
		if len(primaries) > 0 {
			t.restart(primaries[t.rand.IntN(len(primaries))], time.Duration(3+t.rand.IntN(40))*time.Second)
		}
	default:
		t.wipe(p)
	}
}

// restart stops a pod, which comes back with its data, mostly at another address.
func (t *town) restart(p *pod, after time.Duration) {
	t.log("FAULT %s stops for %s", p.place.Name, after)
	p.server.Stop()
	address := p.server.Address()
	if t.rand.IntN(4) > 0 {
		address = t.address()
	}
	server := p.server
	t.happen(after, p.place.Name+" starts at "+address, func() {
		if p.server == server && !server.Up() {
			t.returns(server)
			server.Start(address)
		}
	})
}

// wipe replaces a pod by an empty one, if what it has is elsewhere or may get lost.
func (t *town) wipe(p *pod) {
	if !t.world.Heard(p.server) {
		return // nobody would know what it owned
	}
	var only []string
	for _, key := range slices.Sorted(maps.Keys(t.acked)) {
		if p.server.KeyVersion(key) >= t.acked[key] && !t.kept(key, t.acked[key], p.server) {
			only = append(only, key)
		}
	}
	last := len(only) > 0
	if len(p.server.Owns()) > 0 {
		last = last || !slices.ContainsFunc(t.pods, func(r *pod) bool { return r.server.Follows() == p.server.ID && r.server.InSync() })
	}
	if last && !t.lossy {
		return
	}
	for _, key := range only {
		delete(t.acked, key)
	}
	t.wiped, t.replaced = t.wiped || last, t.replaced || len(p.server.Owns()) > 0
	t.log("FAULT %s loses its volume", p.place.Name)
	p.server.Wipe("fault: " + p.place.Name + " loses its volume")
	p.server = t.world.Add(p.place.Name, t.version, t.address())
}

// held is whether any server has a key.
func (t *town) held(key string, version int) bool {
	return slices.ContainsFunc(t.world.Servers(), func(s *clustermodel.Server) bool { return s.KeyVersion(key) >= version })
}

// kept is whether a key outlives a server: a primary that is up has it, or a replica of that
// server in sync. What a replica of another one has may be what its primary has just given
// away.
func (t *town) kept(key string, version int, but *clustermodel.Server) bool {
	return slices.ContainsFunc(t.world.Servers(), func(s *clustermodel.Server) bool {
		return s != but && s.Up() && s.KeyVersion(key) >= version && (s.Follows() == "" || s.Follows() == but.ID && s.InSync())
	})
}

// dropped is told of every key that a server loses. What one deletes that the servers have elected
// by themselves, or that starts, is theirs.
func (t *town) dropped(_ *clustermodel.Server, key string, _ int, cause string) {
	version, must := t.acked[key]
	if !must || t.held(key, version) {
		return
	}
	delete(t.acked, key)
	if kind, _, _ := strings.Cut(cause, ":"); kind == "fault" || kind == "election" || kind == "start" {
		return
	}
	t.violate("key %s of slot %d is lost: %s", key, slot.OfKey(key), cause)
}

// elected is told of every replica that replaced another node. What only a dead primary has
// was never replicated, and is lost with its place.
func (t *town) elected(winner *clustermodel.Server, old, how string) {
	var dead *clustermodel.Server
	for _, s := range t.world.Servers() {
		if s.ID == old {
			dead = s
		}
	}
	if how == "takeover" {
		t.tookOver[winner.ID] = old
	}
	if dead != nil && dead.Up() && (how == "force" || how == "takeover") && time.Now().UnixMilli()-dead.Since() > 5000 {
		t.violate("%s replaces %s by %s, which is up", winner.Name, dead.Name, how)
	}
	for _, key := range slices.Sorted(maps.Keys(t.acked)) {
		version := t.acked[key]
		if how == "handover" || winner.KeyVersion(key) >= version || dead == nil || dead.KeyVersion(key) < version {
			continue
		}
		if !t.spare(key, version, dead, how) {
			delete(t.acked, key)
		}
	}
}

// raised is told of every server that takes a config epoch of its own because another shard
// has the same one. That is how servers settle it, and nothing that a Job does: a primary that
// takes a slot and dies before anybody has heard of its new epoch leaves that number to the
// next election, comes back, and with the one above all wins its slots back from the replica
// that was elected in its place. What that one wrote is lost, to slots on their way there, too.
func (t *town) raised(s *clustermodel.Server) {
	for _, key := range slices.Sorted(maps.Keys(t.acked)) {
		n := slot.OfKey(key)
		if (s.Owns().Contains(n) || s.Imports(n)) && s.KeyVersion(key) < t.acked[key] {
			delete(t.acked, key)
		}
	}
}

// spare is whether somebody has a key that a dead primary has and its successor lacks. The
// servers are free to elect a replica that has less; a Job that names one is not.
func (t *town) spare(key string, version int, dead *clustermodel.Server, how string) bool {
	return slices.ContainsFunc(t.world.Servers(), func(s *clustermodel.Server) bool {
		return s != dead && s.Up() && s.KeyVersion(key) >= version && (s.Follows() == "" || s.Follows() == dead.ID && how != "election")
	})
}

// returns is told of every server that is about to come back. One that took a dead primary's
// place by TAKEOVER, and died before anybody who is up had heard of it, finds that one back and
// serving: nobody could tell it. It takes the slots by its higher config epoch, and what was
// written meanwhile is lost. The takeover was allowed, by a human unless the cluster is a Cache,
// its fence held when it was made, and no Job has a say in which of the two serves after that.
// An election is known to those who voted.
func (t *town) returns(s *clustermodel.Server) {
	i := slices.IndexFunc(t.world.Servers(), func(old *clustermodel.Server) bool { return old.ID == t.tookOver[s.ID] })
	if i < 0 || t.world.Believed(s) {
		return
	}
	old := t.world.Servers()[i]
	for key, version := range t.acked {
		n := slot.OfKey(key)
		if s.Owns().Contains(n) && old.Owns().Contains(n) && s.Epoch() > old.Epoch() && s.KeyVersion(key) < version && old.KeyVersion(key) >= version {
			delete(t.acked, key)
			if has := s.KeyVersion(key); has > 0 {
				t.acked[key] = has
			}
		}
	}
}

// key is a key of a slot.
func (t *town) key(n, number int) string { return t.tags[n] + strconv.Itoa(number) }

// set writes as a client does, and remembers what was acknowledged.
func (t *town) set(key string) {
	n := slot.OfKey(key)
	var first *clustermodel.Server
	for _, p := range t.pods {
		if s := p.server; s.Up() && s.Owns().Contains(n) && (first == nil || s.Epoch() > first.Epoch()) {
			first = s
		}
	}
	version := t.acked[key] + 1
	for asking, redirects := false, 0; first != nil && redirects < 5; redirects++ {
		session, err := t.world.Connect(first.Address())
		if err != nil {
			return
		}
		if asking {
			session.Do("ASKING")
		}
		reply := session.Do("SET", key, strconv.Itoa(version))
		if reply.Err == nil {
			t.acked[key] = version
			t.log("client: %s has %s, version %d", first.Name, key, version)
			return
		}
		var refused *node.RefusedError
		if !errors.As(reply.Err, &refused) {
			return
		}
		words := strings.Fields(refused.Words)
		if len(words) != 3 || words[0] != "MOVED" && words[0] != "ASK" {
			return
		}
		asking, first = words[0] == "ASK", t.world.At(words[2])
	}
}

// write has clients write for a while.
func (t *town) write(keys []string, times int) {
	if len(keys) == 0 {
		return
	}
	for range times {
		key := keys[t.rand.IntN(len(keys))]
		t.happen(time.Duration(t.rand.IntN(20_000))*time.Millisecond, "", func() { t.set(key) })
	}
}
