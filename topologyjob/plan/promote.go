// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"

	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// How is in which way a replica becomes the primary.
type How string

// Ways to become the primary.
const (
	// Handover: the primary stops writes, the replica catches up, nothing is lost.
	Handover How = "handover"
	// Force: the primary is dead and the others vote. What it had not sent yet is lost.
	Force How = "failover"
	// Takeover: too many primaries are dead for a vote, or none is held.
	Takeover How = "takeover"
)

// Promote makes replicas the primaries of their shards.
type Promote struct {
	Because
	How        How
	Promotions []Promotion
	// Slotless is whether the primaries own no slots, so that a Takeover needs no lost
	// majority.
	Slotless bool
}

// Promotion is a replica for the place of its primary.
type Promotion struct {
	Replica Ref
	// Primary has no pod when that is not known.
	Primary Ref
	// Away are the pods one of which is the dead primary's.
	Away []string
	// Copies are keys that may get lost with the promotion, if the owners of their slots have
	// all of them.
	Copies []Empty
}

// Kind implements Step.
func (s Promote) Kind() string { return string(s.How) }

func (s Promote) String() string {
	n := len(s.Promotions)
	switch s.How {
	case Handover:
		return fmt.Sprintf("hand over %s", count(n, "primary"))
	case Force:
		return fmt.Sprintf("promote %s by FAILOVER FORCE", count(n, "replica"))
	}
	return fmt.Sprintf("promote %s by TAKEOVER", count(n, "replica"))
}

// dead is a primary that owns slots and did not answer.
type dead struct {
	id string
	// replicas are its replicas that answered, best first.
	replicas []*survey.Answer
}

// deadPrimaries are sorted by ID.
func (s *situation) deadPrimaries() []dead {
	var all []dead
	for id := range s.owners.Slots {
		if s.byID[id] != nil {
			continue
		}
		d := dead{id: id}
		for _, a := range s.nodes {
			if own := a.Own(); own.Replica && own.Primary == id && (synced(a) || s.lastCopy(a, id)) {
				d.replicas = append(d.replicas, a)
			}
		}
		slices.SortStableFunc(d.replicas, better)
		all = append(all, d)
	}
	slices.SortFunc(all, func(a, b dead) int {
		if a.id < b.id {
			return -1
		}
		return 1
	})
	return all
}

// synced is whether a replica ever was in sync with its primary. Before that its offset is
// 0, or 1 in the servers' way of saying none.
func synced(a *survey.Answer) bool { return a.Offset > 1 }

// lastCopy is whether the data of a replica that has not been in sync since it started is the
// best that there is: every pod answers, and none is the primary any more. Servers do not
// elect such a replica whatever it holds. One without keys is as good where the loss of the
// slots is accepted, as in a Cache.
func (s *situation) lastCopy(a *survey.Answer, primary string) bool {
	return len(s.absent()) == 0 && (a.Keys > 0 || s.givenUp(primary))
}

// givenUp is whether the slots of a node may be empty from now on, while every pod answers.
func (s *situation) givenUp(id string) bool {
	return !s.desired.Durable || s.unfilled() || s.desired.AcceptLoss.Covers(s.owners.Slots[id])
}

// unfilled is whether a cluster has not been formed to the end and nobody has a key, so that a
// node which is gone has taken none along.
func (s *situation) unfilled() bool { return !s.desired.Initialized && s.keys() == 0 }

// better puts the higher offset first, then more keys, then the lower ordinal.
func better(a, b *survey.Answer) int {
	switch {
	case a.Offset > b.Offset:
		return -1
	case a.Offset < b.Offset:
		return 1
	case a.Keys != b.Keys:
		return int(b.Keys - a.Keys)
	}
	return int(a.Pod.Index) - int(b.Pod.Index)
}

// away are the pods of a shard that did not answer.
func (s *situation) away(shard int32) []*survey.Answer {
	var list []*survey.Answer
	for _, a := range s.absent() {
		if a.Pod.Shard == shard {
			list = append(list, a)
		}
	}
	return list
}

func names(answers []*survey.Answer) []string {
	var list []string
	for _, a := range answers {
		list = append(list, a.Pod.Name)
	}
	return list
}
