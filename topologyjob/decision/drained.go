// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"slices"

	"github.com/valkey-render/valkey-render/topologyjob/plan"
)

// content is what the pods of a shard hold, as far as they told.
type content struct {
	// pods were asked, told answered, and holds is whether one of them has slots or keys.
	pods, told int
	holds      bool
}

// empty is whether all pods told that they hold nothing.
func (c content) empty() bool { return c.pods > 0 && c.told == c.pods && !c.holds }

// contents are those of the shards beyond a count.
func (in Input) contents(beyond int32) map[int32]*content {
	owners := in.Seen.View.Owners()
	found := map[int32]*content{}
	for i := range in.Seen.View.Answers {
		a := &in.Seen.View.Answers[i]
		if a.Pod.Shard < beyond {
			continue
		}
		c := found[a.Pod.Shard]
		if c == nil {
			c = &content{}
			found[a.Pod.Shard] = c
		}
		c.pods++
		if a.Answered() {
			c.told++
			c.holds = c.holds || a.Keys > 0 || owners.Slots[a.ID].Count() > 0
		}
	}
	return found
}

// drained lists the shards beyond the wanted count that hold nothing, and lets those go that
// were listed before. A shard is in the status before anything of it is deleted; one that is
// wanted again is not beyond the count any more, and so leaves the list before a slot can
// come back to it.
func (in Input) drained(d *Decision, desired plan.Desired) {
	d.Drained = nil
	contents := in.contents(desired.Shards)
	allOwned := len(in.Seen.View.Owners().Unassigned) == 0
	listed := in.Cluster.Status.DrainedShards
	last := in.present()
	for _, shard := range listed {
		last = max(last, shard+1)
	}
	for shard := desired.Shards; shard < last; shard++ {
		set, known := in.set(shard), slices.Contains(listed, shard)
		c := contents[shard]
		if c == nil {
			c = &content{}
		}
		switch {
		case known && !c.holds && (set != nil || in.remains(shard)), !known && set != nil && c.empty() && allOwned:
			d.Drained = append(d.Drained, shard)
		default:
			continue
		}
		if !known {
			d.sooner(soonest)
		}
		if known && set != nil && !set.Deleting && (c.empty() || c.pods == 0 && set.Pods == 0) {
			d.Release = append(d.Release, shard)
		}
	}
}

// remains reports whether anything of a shard is left that the guard would keep.
func (in Input) remains(shard int32) bool {
	for _, claim := range in.Seen.Claims {
		if claim.Shard == shard {
			return true
		}
	}
	for i := range in.Seen.Pods {
		if p := &in.Seen.Pods[i]; !p.Sentinel && p.Shard == shard {
			return true
		}
	}
	return false
}
