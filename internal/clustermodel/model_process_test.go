// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package clustermodel_test

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/valkey-render/valkey-render/internal/servertest"
	"github.com/valkey-render/valkey-render/topologyjob/slot"
)

// TestProcessModelAnswersAsServersDo sends the same random commands to real servers and to
// the model, and compares the replies and what all nodes believe afterwards.
func TestProcessModelAnswersAsServersDo(t *testing.T) {
	t.Parallel()
	for _, version := range servertest.Versions() {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			p := newPair(t, version)
			p.form()
			p.attach()
			p.random(rand.New(rand.NewPCG(1, 1)), 60)
		})
	}
}

// TestProcessModelPromotesAsServersDo: a replica has a key of a slot that another shard owns, and
// takes its primary's place.
func TestProcessModelPromotesAsServersDo(t *testing.T) {
	t.Parallel()
	for _, version := range servertest.Versions() {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			p := newPair(t, version)
			p.form()
			p.attach()
			n := p.copied("a")
			p.send(0, "CLUSTER", "SETSLOT", n, "STABLE")
			p.agree("a key where its slot is not")
			for _, i := range []int{0, 2} {
				p.send(i, "CLUSTER", "GETKEYSINSLOT", n, "10")
			}
			p.send(2, "CLUSTER", "FAILOVER")
			p.agree("the replica is the primary")
			for _, i := range []int{2, 0, 1} {
				p.send(i, "CLUSTER", "GETKEYSINSLOT", n, "10")
			}
		})
	}
}

// TestProcessModelStartsAsServersDo: a primary that starts has keys of slots that another one owns,
// of one that it imports and of one that it does not.
func TestProcessModelStartsAsServersDo(t *testing.T) {
	t.Parallel()
	for _, version := range servertest.Versions() {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			p := newPair(t, version)
			p.form()
			stray, imported := p.copied("a"), p.copied("foo")
			p.send(0, "CLUSTER", "SETSLOT", stray, "STABLE")
			p.send(0, "SET", "b", "1")
			p.agree("keys where their slots are not")
			p.restart(0)
			p.agree("it is back")
			for i := range 2 {
				for _, n := range []string{stray, imported, strconv.Itoa(slot.OfKey("b"))} {
					p.send(i, "CLUSTER", "GETKEYSINSLOT", n, "10")
				}
			}
		})
	}
}

// random sends commands about few slots, right and wrong ones.
func (p *pair) random(r *rand.Rand, times int) {
	keys := []string{"a", "b", "{a}1", "{a}2", "{b}1"}
	for range times {
		i, other := r.IntN(nodes), r.IntN(nodes)
		key := keys[r.IntN(len(keys))]
		number := strconv.Itoa(slot.OfKey(key))
		host, port, _ := strings.Cut(p.real[other].Addr(), ":")
		switch r.IntN(14) {
		case 0, 1:
			p.send(i, "SET", key, strconv.Itoa(1+r.IntN(9)))
		case 2:
			p.sendTo(i, []string{"CLUSTER", "SETSLOT", number, "IMPORTING"}, other)
		case 3, 4:
			p.sendTo(i, []string{"CLUSTER", "SETSLOT", number, "MIGRATING"}, other)
		case 5:
			p.send(i, "CLUSTER", "SETSLOT", number, "STABLE")
		case 6:
			// A slot that is given to who does not take it has two owners in two views.
			if i == other {
				p.sendTo(i, []string{"CLUSTER", "SETSLOT", number, "IMPORTING"}, (i+1)%2)
				p.sendTo(i, []string{"CLUSTER", "SETSLOT", number, "NODE"}, other)
			}
		case 7:
			if i != other {
				p.send(i, "MIGRATE", host, port, "", "0", "2000", "KEYS", key)
			}
		case 8:
			p.send(i, "CLUSTER", "COUNTKEYSINSLOT", number)
			p.send(i, "CLUSTER", "GETKEYSINSLOT", number, "10")
		case 9:
			p.send(i, "CLUSTER", "ADDSLOTSRANGE", number, number)
		case 10:
			p.sendTo(i, []string{"CLUSTER", "REPLICATE"}, (i+1)%2)
		case 11:
			p.send(i, "EXISTS", key)
		case 12:
			if i != 2 {
				p.send(i, "CLUSTER", "FAILOVER")
			}
			p.send(i, "CLUSTER", "FORGET", strings.Repeat("0", 40))
		case 13:
			p.sendTo(i, []string{"CLUSTER", "MIGRATESLOTS", "SLOTSRANGE", "0", "16383", "NODE"}, other)
		}
		p.agree("after a command")
	}
}
