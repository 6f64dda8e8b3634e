// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import "github.com/valkey-render/valkey-render/topologyjob/survey"

// moved is check 6: members that know each other's IDs and have no link in either
// direction, because each remembers the other at an address that it left. A MEET at the
// pod's address heals that. With a link in one direction the servers heal it themselves: who
// is pinged learns where the sender is. It comes before anything is forgotten: who is
// forgotten is banned for a minute.
func moved(s *situation) finding {
	edges := s.edges(func(a, b *survey.Answer) bool { return a.Lost(b) && b.Lost(a) })
	if len(edges) == 0 {
		return finding{}
	}
	return finding{steps: []Step{Meet{Because: "members have no link to each other", Edges: edges, Again: true}}}
}

// strange is whether a node does not know another one.
func strange(from, to *survey.Answer) bool {
	e, known := from.Sees(to.ID)
	return !known || e.Handshake
}

// hubs is to how many nodes each node is introduced. Gossip does the rest, but a node that
// a busy one forgets to mention is found sooner through another.
const hubs = 8

// edges are MEETs for pairs of nodes that need one: from every node to the first few. Where
// that leaves nothing, some other pairs are taken. A MEET makes both ends know each other.
func (s *situation) edges(needed func(a, b *survey.Answer) bool) []Edge {
	var edges, others []Edge
	for i, from := range s.nodes {
		for j, to := range s.nodes[:i] {
			if j >= hubs && len(others) >= hubs || !needed(from, to) {
				continue
			}
			edge := Edge{From: ref(from), To: ref(to)}
			if j < hubs {
				edges = append(edges, edge)
			} else {
				others = append(others, edge)
			}
		}
	}
	if len(edges) == 0 {
		return others
	}
	return edges
}
