// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"

	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// unassigned is check 9: slots that nobody owns go to the shard that would have got them
// when the cluster was formed. Never while a pod that may still hold their data is away,
// and never in a Durable cluster that was formed before, unless their loss was accepted.
func unassigned(s *situation) finding {
	free := s.owners.Unassigned
	if free.Count() == 0 {
		return finding{}
	}
	if len(s.absent()) > 0 {
		return finding{waits: []Wait{{Message: fmt.Sprintf("slots %s have no owner, and a pod that does not answer may hold their data", free)}}}
	}
	if lost := free.Minus(s.desired.AcceptLoss); s.desired.Initialized && s.desired.Durable && lost.Count() > 0 {
		return blocked(SlotsLost, fmt.Sprintf("slots %s have no owner: restore them from a backup, or accept their loss", lost))
	}
	const because = "slots have no owner"
	assign := Assign{Because: because}
	var f finding
	for shard := range s.desired.Shards {
		its := free.And(s.formula(shard))
		if its.Count() == 0 {
			continue
		}
		target := s.primary(shard)
		if target == nil {
			f.waits = append(f.waits, Wait{Message: fmt.Sprintf("slots %s have no owner and shard %d has no primary", its, shard)})
			continue
		}
		assign.Claims = append(assign.Claims, Claim{ref(target), its})
	}
	if len(assign.Claims) > 0 {
		f.steps = []Step{assign}
	}
	return f
}

// primary is the node of a shard that owns its slots, else the one that would. That is one on
// a pod that is not wanted any more where those that are have only replicas: these cannot take
// its place while it owns no slot, and once it does it hands over.
func (s *situation) primary(shard int32) *survey.Answer {
	if owner := s.owner(shard); owner != nil {
		return owner
	}
	var unwanted *survey.Answer
	heirs := false
	for _, a := range s.shard(shard) {
		switch replica, wanted := a.Own().Replica, s.wanted(a.Pod); {
		case !replica && wanted:
			return a
		case wanted:
			heirs = true
		case !replica && unwanted == nil:
			unwanted = a
		}
	}
	if !heirs {
		return nil
	}
	return unwanted
}
