// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package converge_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/valkey-render/valkey-render/internal/clustermodel"
	"github.com/valkey-render/valkey-render/topologyjob/converge"
	"github.com/valkey-render/valkey-render/topologyjob/plan"
	"github.com/valkey-render/valkey-render/topologyjob/slot"
)

// scenario is a random cluster and what is wanted of it.
type scenario struct {
	*town
	kind     converge.Kind
	desired  plan.Desired
	shards   int32
	replicas int32
	// calm is whether nothing is wrong with the cluster: only what is wanted is different.
	calm bool
	// foreign is whether a pod has data of another cluster.
	foreign bool
	keys    []string
	// opened are slots that somebody moves: a second one who does not know of it destroys keys.
	opened map[int]bool
	// told is whether a slot has a new owner.
	told bool
}

// pick is one of some values.
func pick[T any](r *rand.Rand, values ...T) T { return values[r.IntN(len(values))] }

// draw makes a scenario.
func draw(l *lab, r *rand.Rand, tags []string) *scenario {
	s := &scenario{town: &town{lab: l, rand: r, tags: tags, acked: map[string]int{}, tookOver: map[string]string{}}, calm: true, opened: map[int]bool{}}
	s.version = pick(r, "8.0.1", "8.1.1", "9.1.2", "9.1.2")
	s.shards, s.replicas = pick[int32](r, 1, 2, 2, 2, 3, 3, 3, 3, 4), pick[int32](r, 0, 1, 1, 1, 1, 2)
	if r.IntN(16) == 0 {
		s.shards, s.replicas = 1+r.Int32N(8), r.Int32N(4)
	}
	l.world.OnDrop(s.dropped)
	l.world.OnElect(s.elected)
	l.world.OnRaise(s.raised)
	s.desired = plan.Desired{
		Shards: s.shards, Replicas: s.replicas, NodeTimeout: l.world.NodeTimeout, Durable: l.world.Durable, Takeover: r.IntN(2) == 0,
		BatchSlots: pick(r, 512, 2048, 4096), MaxConcurrent: pick(r, 1, 4),
	}
	for shard := range s.shards {
		for index := range s.replicas + 1 {
			s.add(shard, index)
		}
	}
	if r.IntN(6) == 0 {
		s.unformed()
		return s
	}
	s.desired.Initialized = true
	s.form()
	s.want()
	if r.IntN(3) > 0 {
		for range 1 + r.IntN(3) {
			s.disturb()
		}
	}
	return s
}

// unformed is a cluster that is to be formed. Faults make it one that is partly formed.
func (s *scenario) unformed() {
	s.kind = pick(s.rand, converge.Bootstrap, converge.Converge, converge.Repair)
	s.desired.RebalanceEnabled = s.rand.IntN(2) == 0
	s.calm = false
}

// form makes the cluster that is there: any distribution of slots, any pod the primary.
func (s *scenario) form() {
	shares := s.shares()
	var places []clustermodel.Place
	for shard, slots := range shares {
		first := s.rand.Int32N(s.replicas + 1)
		primary := s.pod(int32(shard), first).server
		places = append(places, clustermodel.Place{Server: primary, Slots: slots, Epoch: uint64(s.rand.IntN(3)*10 + shard + 1)})
		for index := range s.replicas + 1 {
			if index != first {
				places = append(places, clustermodel.Place{Server: s.pod(int32(shard), index).server, Primary: primary})
			}
		}
		for range s.rand.IntN(6) {
			if len(slots) == 0 {
				break
			}
			r := slots[s.rand.IntN(len(slots))]
			key := s.key(r.First+s.rand.IntN(r.Last-r.First+1), len(s.keys))
			primary.Put(key, 1)
			s.acked[key] = 1
			s.keys = append(s.keys, key)
		}
	}
	s.world.Form(places)
	s.world.Sync()
}

// shares are the slots of the shards.
func (s *scenario) shares() []slot.Ranges {
	shares := make([]slot.Ranges, s.shards)
	for shard := range shares {
		shares[shard] = slot.Bootstrap(int32(shard), s.shards)
	}
	move := func(from, to int, n int) {
		n = min(n, shares[from].Count()-1)
		if from == to || n <= 0 {
			return
		}
		slots := shares[from].Take(n)
		shares[from], shares[to] = shares[from].Minus(slots), shares[to].Plus(slots)
	}
	far := 40
	if s.version > "9" || s.rand.IntN(40) == 0 {
		far = 6000
	}
	for range s.rand.IntN(6) {
		move(s.rand.IntN(len(shares)), s.rand.IntN(len(shares)), 1+s.rand.IntN(far))
	}
	return shares
}

// want draws what is wanted.
func (s *scenario) want() {
	d := &s.desired
	s.kind = pick(s.rand, converge.Repair, converge.Repair, converge.Handover, converge.Rebalance, converge.Rebalance, converge.Drain, converge.Reshard, converge.Converge)
	d.RebalanceEnabled = s.rand.IntN(2) == 0
	costly := s.version < "9" && s.rand.IntN(40) > 0
	switch s.rand.IntN(4) {
	case 0:
		d.Replicas = max(0, d.Replicas+pick[int32](s.rand, -1, 1))
	case 1:
		if s.shards < 8 && !(costly && s.moves()) {
			d.Shards += 1 + s.rand.Int32N(2)
		}
	case 2:
		if s.shards > 1 && !(costly && s.moves()) {
			d.Shards -= 1 + s.rand.Int32N(min(2, s.shards-1))
		}
	}
	for shard := range d.Shards {
		for index := range d.Replicas + 1 {
			if s.pod(shard, index) == nil {
				s.add(shard, index)
			}
		}
	}
	switch s.kind {
	case converge.Handover:
		s.vacate()
	case converge.Reshard:
		from := s.rand.Int32N(min(s.shards, d.Shards))
		to := (from + 1) % min(s.shards, d.Shards)
		if from == to {
			s.kind = converge.Repair
			return
		}
		d.Reshard = &plan.Reshard{From: from, To: to, Count: min(1+s.rand.IntN(40), s.owned(from))}
	}
}

// vacate draws pods that are to be no primary, one of a shard.
func (s *scenario) vacate() {
	d := &s.desired
	for shard := range d.Shards {
		if d.Replicas > 0 && s.rand.IntN(2) == 0 {
			d.Vacate = append(d.Vacate, s.pod(shard, s.rand.Int32N(d.Replicas+1)).place.Name)
		}
	}
	if s.rand.IntN(3) == 0 {
		d.Spread = plan.SpreadNodes
	}
}

// owned is how many slots a shard owns.
func (s *scenario) owned(shard int32) int {
	n := 0
	for _, p := range s.pods {
		if p.place.Shard == shard {
			n += p.server.Owns().Count()
		}
	}
	return n
}

// moves is whether the kind would move the slots of whole shards.
func (s *scenario) moves() bool {
	return s.kind == converge.Rebalance || s.kind == converge.Drain || s.kind == converge.Converge
}

// disturb makes something wrong with the cluster.
func (s *scenario) disturb() {
	s.calm = false
	switch s.rand.IntN(8) {
	case 0, 1, 2:
		s.interruptMove()
	case 3:
		for range 1 + s.rand.IntN(len(s.pods)) {
			s.trouble()
		}
	case 4:
		// All pods move.
		for _, p := range s.pods {
			if p.server.Up() {
				s.restart(p, 0)
			}
		}
	case 5:
		s.lossy = s.rand.IntN(3) == 0
		s.trouble()
	case 6:
		s.happen(time.Duration(s.rand.IntN(30))*time.Second, "", s.trouble)
		s.happen(time.Duration(s.rand.IntN(30))*time.Second, "", s.trouble)
	case 7:
		s.giveAway()
	}
}

// owners are two different primaries with slots.
func (s *scenario) owners() (from, to *pod) {
	var all []*pod
	for _, p := range s.pods {
		if p.server.Up() && len(p.server.Owns()) > 0 {
			all = append(all, p)
		}
	}
	if len(all) < 2 {
		return nil, nil
	}
	i := s.rand.IntN(len(all))
	return all[i], all[(i+1+s.rand.IntN(len(all)-1))%len(all)]
}

// say sends a command as somebody else does, and reports whether it was done.
func (s *scenario) say(p *pod, words ...string) bool {
	session, err := s.world.Connect(p.server.Address())
	if err != nil {
		return false
	}
	reply := session.Do(words...)
	s.log("somebody: %s: %v: %v %v", p.place.Name, words, reply.Value, reply.Err)
	return reply.Err == nil
}

// interruptMove is a move key by key, by somebody, that was cut off.
func (s *scenario) interruptMove() {
	from, to := s.owners()
	if from == nil {
		return
	}
	for range 1 + s.rand.IntN(4) {
		slots := from.server.Owns()
		if len(slots) == 0 {
			return
		}
		n := slots[s.rand.IntN(len(slots))].First
		for _, key := range s.keys {
			if m := slot.OfKey(key); slots.Contains(m) && s.rand.IntN(3) == 0 {
				n = m
			}
		}
		s.moveSlot(from, to, n, s.rand.IntN(6))
	}
}

// moveSlot does so many parts of the move of a slot. Like valkey-cli it ends at the first
// command that is not done: who has a node take a slot whose owner could not be told to give
// its keys away destroys them, and who has one that knows nobody take it makes data that is
// foreign to all others.
func (s *scenario) moveSlot(from, to *pod, n, parts int) {
	if s.opened[n] || !from.server.Up() || !to.server.Up() {
		return
	}
	s.opened[n] = true
	if s.told {
		// Two that take slots in both directions before they hear of each other may get one
		// epoch, and the wrong one a higher one after that.
		late := s.world.Late
		s.world.Late = 0
		time.Sleep(2 * time.Second)
		s.pass()
		s.world.Late = late
	}
	s.told = s.told || parts > 3
	number := strconv.Itoa(n)
	do := []func() bool{
		func() bool { return s.say(to, "CLUSTER", "SETSLOT", number, "IMPORTING", from.server.ID) },
		func() bool { return s.say(from, "CLUSTER", "SETSLOT", number, "MIGRATING", to.server.ID) },
		func() bool {
			ip, _, _ := strings.Cut(to.server.Address(), ":")
			for i, key := range slices.DeleteFunc(slices.Clone(s.keys), func(key string) bool { return slot.OfKey(key) != n }) {
				if (i%2 == 0 || parts > 3) && !s.say(from, "MIGRATE", ip, "6379", "", "0", "1000", "KEYS", key) {
					return false
				}
			}
			return true
		},
		func() bool { return parts <= 3 || s.say(to, "CLUSTER", "SETSLOT", number, "NODE", to.server.ID) },
		func() bool { return s.say(from, "CLUSTER", "SETSLOT", number, "NODE", to.server.ID) },
	}
	for _, part := range do[:min(parts, len(do))] {
		if !part() {
			return
		}
	}
}

// giveAway makes a pod that is not its shard's primary an owner, as somebody does by hand.
func (s *scenario) giveAway() {
	from, _ := s.owners()
	if from == nil {
		return
	}
	for _, p := range s.pods {
		if p.server.Up() && p.server.Follows() == "" && len(p.server.Owns()) == 0 && p.server.KeyCount() == 0 && p.server.Knows() > 1 {
			slots := from.server.Owns()
			s.moveSlot(from, p, slots[0].First, 5)
			return
		}
	}
}

func (s *scenario) String() string {
	return fmt.Sprintf("%s of %d×%d on %s, wanted %d×%d (durable %v, initialized %v, vacate %v, reshard %+v, rebalance %v)",
		s.kind, s.shards, s.replicas+1, s.version, s.desired.Shards, s.desired.Replicas+1, s.desired.Durable, s.desired.Initialized,
		s.desired.Vacate, s.desired.Reshard, s.desired.RebalanceEnabled)
}
