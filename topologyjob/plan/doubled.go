// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package plan

// doubled moves slots of a shard that has two owners to the one with the most: somebody
// moved them, by hand, to a pod that was not its shard's primary. Such a pod cannot be
// attached, and has no replica.
func doubled(s *situation) finding {
	step := MoveSlots{Because: "a shard has two nodes that own slots", Atomic: s.atomic(), Timeout: s.desired.NodeTimeout.Milliseconds()}
	for _, a := range s.nodes {
		owner := s.owner(a.Pod.Shard)
		if slots := s.owners.Slots[a.ID]; len(slots) > 0 && owner != a {
			step.Left += slots.Count()
			step.Moves = append(step.Moves, Move{From: ref(a), To: ref(owner), Slots: slots.Take(s.desired.batch())})
		}
	}
	if len(step.Moves) == 0 {
		return finding{}
	}
	step.Moves = step.Moves[:min(s.desired.concurrent(), len(step.Moves))]
	if why, ok := s.still(); !ok {
		return s.begin(why, "", nil)
	}
	return finding{steps: []Step{step}}
}
