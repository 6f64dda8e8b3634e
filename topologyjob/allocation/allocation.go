// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"fmt"
	"slices"

	"github.com/valkey-render/valkey-render/topologyjob/slot"
)

// Share is what one shard owns.
type Share struct {
	Shard int32
	Slots slot.Ranges
	// Leaving is true for a shard that is to own nothing in the end.
	Leaving bool
}

// Move is slots that go from one shard to another.
type Move struct {
	From, To int32
	Slots    slot.Ranges
}

// Count is how many slots are moved in all.
func Count(moves []Move) int {
	n := 0
	for _, m := range moves {
		n += m.Slots.Count()
	}
	return n
}

// Drain moves everything that leaving shards own straight to the shards that stay, the
// emptiest first. Shards that stay give nothing away.
func Drain(shares []Share) []Move {
	targets := have(shares)
	free := 0
	for i, s := range shares {
		if s.Leaving {
			free += targets[i]
			targets[i] = 0
		}
	}
	raise(shares, targets, free, slot.All().Count())
	return moves(shares, targets)
}

// Even moves the fewest slots after which each shard that stays is within one slot of its
// even part, and leaving shards own nothing.
func Even(shares []Share) []Move {
	staying, total := 0, 0
	for _, s := range shares {
		total += s.Slots.Count()
		if !s.Leaving {
			staying++
		}
	}
	if staying == 0 {
		return nil
	}
	// Within one slot of total/staying, which need not be a whole number.
	low, high := total/staying-1, total/staying+1
	if total%staying != 0 {
		low++
	}
	low = max(low, 0)
	targets := have(shares)
	free := total
	for i, s := range shares {
		if s.Leaving {
			targets[i] = 0
			continue
		}
		targets[i] = min(max(targets[i], low), high)
		free -= targets[i]
	}
	// What has to be given beyond the bounds is given by those who have the most, and goes
	// to those who have the least: neither makes a move that the other would take back.
	for ; free < 0; free++ {
		targets[most(shares, targets)]--
	}
	raise(shares, targets, free, high)
	return moves(shares, targets)
}

// Reshard moves n slots from one shard to another, or says why that cannot be.
func Reshard(shares []Share, from, to int32, n int) (Move, error) {
	source, target := find(shares, from), find(shares, to)
	switch {
	case source == nil:
		return Move{}, fmt.Errorf("reshard: there is no shard %d", from)
	case target == nil:
		return Move{}, fmt.Errorf("reshard: there is no shard %d", to)
	case from == to:
		return Move{}, fmt.Errorf("reshard: from shard %d to itself", from)
	case n < 1 || n > source.Slots.Count():
		return Move{}, fmt.Errorf("reshard: %d slots, shard %d owns %d", n, from, source.Slots.Count())
	}
	return Move{From: from, To: to, Slots: pick(source.Slots, n, target.Slots)}, nil
}

func find(shares []Share, shard int32) *Share {
	for i := range shares {
		if shares[i].Shard == shard {
			return &shares[i]
		}
	}
	return nil
}

func have(shares []Share) []int {
	counts := make([]int, len(shares))
	for i, s := range shares {
		counts[i] = s.Slots.Count()
	}
	return counts
}

// raise hands out slots one by one to the staying shard that has the fewest.
func raise(shares []Share, targets []int, free, high int) {
	for ; free > 0; free-- {
		least := -1
		for i, s := range shares {
			if !s.Leaving && targets[i] < high && (least < 0 || targets[i] < targets[least]) {
				least = i
			}
		}
		if least < 0 {
			return
		}
		targets[least]++
	}
}

// most is the staying shard with the highest target, of equal ones the one that owns more.
func most(shares []Share, targets []int) int {
	best := -1
	for i, s := range shares {
		switch {
		case s.Leaving:
		case best < 0 || targets[i] > targets[best],
			targets[i] == targets[best] && s.Slots.Count() > shares[best].Slots.Count():
			best = i
		}
	}
	return best
}

// moves turns targets into slots. Neighbours are paired first, since a range that grows at
// its end stays one range.
func moves(shares []Share, targets []int) []Move {
	owned := make([]slot.Ranges, len(shares))
	surplus := make([]int, len(shares))
	for i, s := range shares {
		owned[i], surplus[i] = s.Slots, s.Slots.Count()-targets[i]
	}
	var list []Move
	give := func(from, to int) {
		n := min(surplus[from], -surplus[to])
		if n <= 0 {
			return
		}
		slots := pick(owned[from], n, owned[to])
		owned[from], owned[to] = owned[from].Minus(slots), owned[to].Plus(slots)
		surplus[from] -= n
		surplus[to] += n
		list = append(list, Move{From: shares[from].Shard, To: shares[to].Shard, Slots: slots})
	}
	for _, neighbours := range []bool{true, false} {
		for from := range shares {
			for to := range shares {
				if !neighbours || touch(owned[from], owned[to]) {
					give(from, to)
				}
			}
		}
	}
	return list
}

func touch(a, b slot.Ranges) bool {
	return slices.ContainsFunc(a, func(r slot.Range) bool { lower, upper := beside(r, b); return lower || upper })
}

// beside reports whether a range touches a set at its lower and at its upper end.
func beside(r slot.Range, set slot.Ranges) (lower, upper bool) {
	return set.Contains(r.First - 1), set.Contains(r.Last + 1)
}

// pick takes n slots of a set for the owner of another one: first what touches that, then
// whole ranges, the smallest first, and in the end a piece of one.
func pick(from slot.Ranges, n int, to slot.Ranges) slot.Ranges {
	var picked slot.Ranges
	for n > 0 && len(from) > 0 {
		smallest := from[0]
		var piece slot.Range
		found := false
		for _, r := range from {
			size := min(n, r.Last-r.First+1)
			lower, upper := beside(r, to)
			if lower {
				piece, found = slot.Range{First: r.First, Last: r.First + size - 1}, true
				break
			}
			if upper {
				piece, found = slot.Range{First: r.Last - size + 1, Last: r.Last}, true
				break
			}
			if r.Last-r.First < smallest.Last-smallest.First {
				smallest = r
			}
		}
		if !found {
			piece = slot.Range{First: max(smallest.First, smallest.Last-n+1), Last: smallest.Last}
		}
		set := slot.Ranges{piece}
		picked, from, to = picked.Plus(set), from.Minus(set), to.Plus(set)
		n -= set.Count()
	}
	return picked
}
