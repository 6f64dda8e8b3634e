// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"slices"

	"github.com/valkey-render/valkey-render/topologyjob/job"
	"github.com/valkey-render/valkey-render/topologyjob/plan"
	"github.com/valkey-render/valkey-render/topologyjob/status"
)

// content is what the pods of a shard hold, as far as they told.
type content struct {
	// pods were asked, told answered, and holds is whether one of them has slots or keys.
	pods, told int
	holds      bool
}

// empty is whether all pods told that they hold nothing.
func (c content) empty() bool { return c.pods > 0 && c.told == c.pods && !c.holds }

// contents are those of the shards beyond a count. A slot that is open on a pod, or on its
// way to it, is as good as there.
func (in Input) contents(beyond int32) map[int32]*content {
	owners, targets := in.Seen.View.Owners(), in.targets()
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
			c.holds = c.holds || a.Keys > 0 || owners.Slots[a.ID].Count() > 0 || len(a.Own().Open) > 0 || targets[a.ID]
		}
	}
	return found
}

// targets are the nodes that an atomic migration in flight brings slots to, by ID. Either
// end tells of it; what a replica remembers ends with its primary.
func (in Input) targets() map[string]bool {
	found := map[string]bool{}
	for i := range in.Seen.View.Answers {
		a := &in.Seen.View.Answers[i]
		if !a.Answered() || a.Own().Replica {
			continue
		}
		for _, m := range a.Migrations {
			if !m.Ended() {
				found[m.Target] = true
			}
		}
	}
	return found
}

// fills reports whether a Job may act that may bring slots to a shard: one goes by the number
// of shards that it was started for.
func (in Input) fills(shard int32) bool {
	for i := range in.Jobs {
		r := &in.Jobs[i]
		if !job.Beside(r.Kind) && r.ActsUntil.After(in.Now) && (r.Shards == 0 || r.Shards > shard) {
			return true
		}
	}
	return false
}

// moving reports whether slots may be moved right now: pods that take part, or have to
// answer meanwhile, stay.
func (in Input) moving() bool {
	if in.missing(topological) != "" {
		return true
	}
	r := in.working()
	return r != nil && job.Moves(r.Kind)
}

// outrun stops the Jobs that move slots and were started for more shards than are wanted
// now: what they bring to the others has to be moved back.
func (in Input) outrun(d *Decision) {
	for i := range in.Jobs {
		r := &in.Jobs[i]
		if job.Moves(r.Kind) && r.Shards > in.Cluster.ShardCount() && r.ActsUntil.After(in.Now) {
			d.stop(r)
		}
	}
}

// stop deletes a Job that runs, once.
func (d *Decision) stop(r *job.Record) {
	if r.Over() || r.Leaving || slices.ContainsFunc(d.Stop, func(s job.Record) bool { return s.Name == r.Name }) {
		return
	}
	d.Stop = append(d.Stop, *r)
}

// unwanted are the shards that the status lists as drained, but for those that are wanted
// again: the guard lets data of those that are listed go, and nothing else that keeps a
// decision from being made keeps slots from coming back to them.
func (in Input) unwanted() []int32 {
	var list []int32
	for _, shard := range in.Cluster.Status.DrainedShards {
		if shard >= in.Cluster.ShardCount() {
			list = append(list, shard)
		}
	}
	return list
}

// drained lists the shards beyond the wanted count that hold nothing, and lets those go that
// were listed before. A shard is in the status before anything of it is deleted; one that is
// wanted again is not beyond the count any more, and so leaves the list before a slot can
// come back to it. None is listed that a Job may still bring slots to, and none is listed or
// goes while slots move.
func (in Input) drained(d *Decision, desired plan.Desired) {
	d.Drained = nil
	contents := in.contents(desired.Shards)
	allOwned, moving := len(in.Seen.View.Owners().Unassigned) == 0, in.moving()
	listed := in.Cluster.Status.DrainedShards
	last := in.present()
	for _, shard := range listed {
		last = max(last, shard+1)
	}
	for shard := desired.Shards; shard < last; shard++ {
		set, c := in.set(shard), contents[shard]
		if c == nil {
			c = &content{}
		}
		switch known := slices.Contains(listed, shard); {
		case in.fills(shard):
		case known && !c.holds && (set != nil || in.remains(shard)):
			d.Drained = append(d.Drained, shard)
			if !moving && c.releasable(set) {
				d.Release = append(d.Release, shard)
			}
		case !known && !moving && set != nil && c.empty() && allOwned:
			d.Drained = append(d.Drained, shard)
			d.sooner(soonest)
		}
	}
}

// releasable is whether nothing of a shard that is drained keeps its StatefulSet from going.
func (c content) releasable(set *status.StatefulSet) bool {
	return set != nil && !set.Deleting && (c.empty() || c.pods == 0 && set.Pods == 0)
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
