// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/valkey-render/valkey-render/topologyjob/slot"
)

const all = 16384

// show is "0>3 4095: 1366-5460" for each move.
func show(moves []Move) string {
	var lines []string
	for _, m := range moves {
		lines = append(lines, fmt.Sprintf("%d>%d %s", m.From, m.To, m.Slots))
	}
	return strings.Join(lines, "; ")
}

// formed are the shares of a cluster just formed, with more shards that own nothing.
func formed(shards, more int32) []Share {
	var shares []Share
	for shard := range shards {
		shares = append(shares, Share{Shard: shard, Slots: slot.Bootstrap(shard, shards)})
	}
	for shard := range more {
		shares = append(shares, Share{Shard: shards + shard})
	}
	return shares
}

func leaving(shares []Share, first int) []Share {
	for i := first; i < len(shares); i++ {
		shares[i].Leaving = true
	}
	return shares
}

func TestMoves(t *testing.T) {
	for _, test := range []struct {
		name string
		got  []Move
		want string
	}{
		{"even already", Even(formed(3, 0)), ""},
		{"one more shard", Even(formed(3, 1)), "0>3 4096-5460; 1>3 5461-6826; 2>3 15020-16383"},
		{"two more shards", Even(formed(3, 2)), "0>3 3277-5460; 1>3 5461-6553; 1>4 9831-10922; 2>4 10923-13106"},
		{"one shard less, even", Even(leaving(formed(4, 0), 3)), "3>2 12288-13652; 3>0 15018-16383; 3>1 13653-15017"},
		{"one shard less", Drain(leaving(formed(4, 0), 3)), "3>2 12288-13652; 3>0 15018-16383; 3>1 13653-15017"},
		{"nobody leaves", Drain(formed(3, 1)), ""},
		{"nobody stays", Even(leaving(formed(2, 0), 0)), ""},
		{"one beside one", Even([]Share{{Shard: 0, Slots: slot.All()}, {Shard: 1}}), "0>1 8193-16383"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := show(test.got); got != test.want {
				t.Errorf("%s\nnot %s", got, test.want)
			}
		})
	}
}

func TestReshard(t *testing.T) {
	shares := formed(3, 1)
	m, err := Reshard(shares, 0, 1, 100)
	if got := show([]Move{m}); err != nil || got != "0>1 5361-5460" {
		t.Errorf("%s %v", got, err)
	}
	for want, ask := range map[string][3]int{
		"there is no shard 7":         {7, 1, 1},
		"there is no shard 8":         {0, 8, 1},
		"from shard 2 to itself":      {2, 2, 1},
		"5462 slots, shard 0 owns 54": {0, 1, 5462},
		"0 slots, shard 0 owns 54":    {0, 1, 0},
		"1 slots, shard 3 owns 0":     {3, 1, 1},
	} {
		if _, err := Reshard(shares, int32(ask[0]), int32(ask[1]), ask[2]); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", ask, err)
		}
	}
}

// drawn are random shares of all slots, in pieces, some of them leaving.
func drawn(t *rapid.T) []Share {
	n := rapid.IntRange(1, 8).Draw(t, "shards")
	shares := make([]Share, n)
	for i := range shares {
		shares[i].Shard = int32(i)
		shares[i].Leaving = i > 0 && rapid.IntRange(0, 3).Draw(t, "leaving") == 0
	}
	for first := 0; first < all; {
		last := min(all-1, first+rapid.IntRange(0, 4000).Draw(t, "length"))
		i := rapid.IntRange(0, n-1).Draw(t, "owner")
		shares[i].Slots = shares[i].Slots.Plus(slot.Ranges{{First: first, Last: last}})
		first = last + 1
	}
	return shares
}

// apply does the moves, up to so many slots of each, and fails when one takes slots that
// its source does not own or that moved before.
func apply(t *rapid.T, shares []Share, moves []Move, most int, moved *slot.Ranges) []Share {
	after := append([]Share(nil), shares...)
	for _, m := range moves {
		from, to, slots := find(after, m.From), find(after, m.To), m.Slots.Take(most)
		if !from.Slots.Covers(slots) || len(moved.And(slots)) > 0 || to.Leaving {
			t.Fatalf("%v: %s of %v, moved before: %s", m, slots, *from, moved.And(slots))
		}
		from.Slots, to.Slots = from.Slots.Minus(slots), to.Slots.Plus(slots)
		*moved = moved.Plus(slots)
	}
	return after
}

// fewest is how many slots have to move, at least: what is too much somewhere, or too
// little somewhere else.
func fewest(shares []Share, even bool) int {
	staying := 0
	gone, over, under := 0, 0, 0
	for _, s := range shares {
		if s.Leaving {
			gone += s.Slots.Count()
		} else {
			staying++
		}
	}
	if !even {
		return gone
	}
	for _, s := range shares {
		// |n - all/staying| ≤ 1 without fractions.
		for n := s.Slots.Count(); !s.Leaving && n*staying > all+staying; n-- {
			over++
		}
		for n := s.Slots.Count(); !s.Leaving && n*staying < all-staying; n++ {
			under++
		}
	}
	return max(gone+over, under)
}

// TestEveryShareEndsRight: whatever the shares are and however often the work is cut off
// and planned again, it ends, with the fewest slots moved, each of them once.
func TestEveryShareEndsRight(t *testing.T) {
	for name, decide := range map[string]func([]Share) []Move{"even": Even, "drain": Drain} {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			start := drawn(t)
			shares, want := start, fewest(start, name == "even")
			if n := Count(decide(start)); n != want {
				t.Fatalf("%d slots, not %d", n, want)
			}
			var moved slot.Ranges
			for moves := decide(shares); len(moves) > 0; moves = decide(shares) {
				shares = apply(t, shares, moves, rapid.IntRange(1, 3000).Draw(t, "batch"), &moved)
			}
			if moved.Count() != want {
				t.Errorf("%d slots in pieces, not %d", moved.Count(), want)
			}
			var sum slot.Ranges
			staying, total := 0, 0
			for _, s := range shares {
				sum, total = sum.Plus(s.Slots), total+s.Slots.Count()
				if !s.Leaving {
					staying++
				} else if len(s.Slots) > 0 {
					t.Errorf("shard %d is leaving with %s", s.Shard, s.Slots)
				}
			}
			if sum.Count() != all || total != all {
				t.Errorf("%d slots, %d owned", sum.Count(), total)
			}
			for _, s := range shares {
				n := s.Slots.Count()
				if name == "even" && !s.Leaving && (n*staying > all+staying || n*staying < all-staying) {
					t.Errorf("shard %d of %d has %d", s.Shard, staying, n)
				}
			}
		}))
	}
}
