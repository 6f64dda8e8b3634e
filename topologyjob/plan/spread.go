// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import "github.com/valkey-render/valkey-render/topologyjob/survey"

// spread is check 15: when primaries are to be spread over nodes or zones, one of a place
// that has several hands over to a replica on a place that has two fewer at least. Each
// handover makes the places more even, so it ends. One at a time: a handover changes what
// the next one is for.
func spread(s *situation) finding {
	if s.desired.Spread == SpreadNone {
		return finding{}
	}
	place := func(a *survey.Answer) string {
		if s.desired.Spread == SpreadZones {
			return a.Pod.Zone
		}
		return a.Pod.Node
	}
	primaries := map[string]int{}
	for shard := range s.desired.Shards {
		if owner := s.owner(shard); owner != nil {
			primaries[place(owner)]++
		}
	}
	var best Promotion
	gain := 1
	for shard := range s.desired.Shards {
		owner := s.owner(shard)
		if owner == nil || place(owner) == "" {
			continue
		}
		to, _ := s.successor(owner, func(a *survey.Answer) bool {
			return s.stays(a.Pod) && place(a) != "" && primaries[place(owner)]-primaries[place(a)] > gain
		})
		if to != nil {
			gain = primaries[place(owner)] - primaries[place(to)]
			best = Promotion{Replica: ref(to), Primary: ref(owner)}
		}
	}
	if best.Replica.ID == "" {
		return finding{}
	}
	return finding{steps: []Step{Promote{Because: "primaries share a place that others could be on", How: Handover, Promotions: []Promotion{best}}}}
}
