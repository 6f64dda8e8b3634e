// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package converge_test

import (
	"slices"
	"strings"

	"github.com/valkey-render/valkey-render/internal/clustermodel"
	"github.com/valkey-render/valkey-render/topologyjob/converge"
	"github.com/valkey-render/valkey-render/topologyjob/plan"
	"github.com/valkey-render/valkey-render/topologyjob/slot"
)

// givesUp has a human accept the loss of the slots that nobody owns, once. What some server has
// of them must outlive that.
func (t *trial) givesUp(out converge.Outcome) bool {
	if out.Result != converge.Stuck || out.Reason != plan.SlotsLost || len(t.desired.AcceptLoss) > 0 || t.findable() != "" {
		return false
	}
	left := slot.All()
	for _, s := range t.world.Servers() {
		left = left.Minus(s.Owns())
	}
	t.log("a human accepts the loss of slots %s", left)
	t.desired.AcceptLoss = left
	return true
}

// forgoes has a human accept the loss of keys that only a primary without slots has, once. In a
// Cache the servers elect a replica that never was in sync, and it has none of what its primary
// comes back with. Whether a key that the owner of its slot does not have was deleted there since,
// or is the last one, no program can tell: the Job says which they are, and waits.
func (t *trial) forgoes(out converge.Outcome) bool {
	if out.Result != converge.TimedOut || len(t.desired.AcceptLoss) > 0 {
		return false
	}
	var left slot.Ranges
	for _, s := range t.world.Servers() {
		if !s.Up() || s.Follows() != "" || len(s.Owns()) > 0 {
			continue
		}
		for _, key := range t.keys {
			n := slot.OfKey(key)
			has := func(o *clustermodel.Server) bool { return o.Owns().Contains(n) && o.KeyVersion(key) > 0 }
			if s.KeyVersion(key) == 0 || slices.ContainsFunc(t.world.Servers(), has) {
				continue
			}
			if _, must := t.acked[key]; must || !strings.Contains(out.Message, "are not at the owners of their slots") {
				return false
			}
			left = left.Plus(slot.Ranges{{First: n, Last: n}})
		}
	}
	t.log("a human accepts the loss of keys in slots %s", left)
	t.desired.AcceptLoss = left
	return len(left) > 0
}

// needless says why a block was not called for.
func (t *trial) needless(out converge.Outcome) string {
	switch out.Reason {
	case plan.SlotsLost:
		return t.findable()
	case plan.ForeignData:
		if !t.foreign {
			return "there is no foreign data"
		}
	case plan.QuorumLost:
		if t.desired.Takeover || !t.replaced {
			return "a majority is up, or may be replaced"
		}
	case converge.MoveFailed:
		if !t.differs() {
			return "no key has two values"
		}
	case plan.BadReshard:
		if t.calm {
			return "the shard has the slots"
		}
	default:
		return "all pods are up"
	}
	return ""
}

// differs is whether a key of an open slot has one value where the slot is and another where
// it goes: a source that died before its replica heard of a key that was given away leaves it
// behind there, and clients write to both.
func (t *trial) differs() bool {
	return slices.ContainsFunc(t.keys, func(key string) bool {
		versions := map[int]bool{}
		for _, s := range t.world.Servers() {
			if v := s.KeyVersion(key); v > 0 && s.Up() && s.Follows() == "" && (s.Open() > 0 || s.Owns().Contains(slot.OfKey(key))) {
				versions[v] = true
			}
		}
		return len(versions) > 1
	})
}

// findable is which key of slots without an owner some server still has. Slots that never had
// a key are lost like others, since nobody can tell. A key that went over to the other end of
// an open slot waits there: the slot is lost all the same with those that did not, and who
// restores them or gives them up decides on both.
func (t *trial) findable() string {
	owned := slot.Ranges{}
	for _, s := range t.world.Servers() {
		owned = owned.Plus(s.Owns())
	}
	for _, key := range t.keys {
		if version, must := t.acked[key]; must && !owned.Contains(slot.OfKey(key)) && t.stays(key, version) {
			return "a server has key " + key
		}
	}
	if !t.wiped && !t.replaced {
		return "no owner was ever lost"
	}
	return ""
}

// stays is whether a server has a key other than at the end of an open slot.
func (t *trial) stays(key string, version int) bool {
	return slices.ContainsFunc(t.world.Servers(), func(s *clustermodel.Server) bool {
		return s.KeyVersion(key) >= version && !s.Imports(slot.OfKey(key))
	})
}
