// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"fmt"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/topologyjob/converge"
	"github.com/valkey-render/valkey-render/topologyjob/plan"
	"github.com/valkey-render/valkey-render/topologyjob/status"
)

// member is a pod of a shard, with what a roll needs to know of it.
type member struct {
	*status.Pod
	// why it is to be replaced, "" when it is not.
	why string
	// asked is whether that is for a restart that was asked for.
	asked bool
	// primary is whether it has the shard's data, told whether its server answered, stopped
	// whether the server is known not to run: what waits may be another container.
	primary, told, stopped bool
	// good is whether it runs, is ready and, as a replica, has caught up.
	good bool
}

func (m *member) stale() bool { return m.why != "" }

// near is how many bytes a replica may be behind: a link that is up makes up for it in no
// time.
const near = 1 << 20

// party is one shard in a roll.
type party struct {
	shard   int32
	wanted  int32
	members []member
}

// roll is what a roll does next.
type roll struct {
	evict   []Eviction
	vacate  []string
	waiting []string
	refused string
	// stale is how many pods are still to be replaced.
	stale int
}

// rolls replaces pods in order: in each shard replicas first, then a handover, then what was
// the primary; the next only when the last one is back. It reports whether it has the floor.
func (in Input) rolls(d *Decision, desired plan.Desired) bool {
	parties := in.parties()
	r := in.roll(parties)
	if r.stale == 0 {
		in.restarted(d, parties, "")
		return false
	}
	if rejected := in.rejected(); rejected != "" {
		d.Next.RestartWouldFail = rejected
		r = roll{refused: "servers refuse a live directive, and would not start with it: " + rejected}
	}
	in.restarted(d, parties, r.refused)
	d.Next.Work = append(d.Next.Work, status.WorkRoll)
	d.Next.RollRefused = r.refused
	d.Next.Waiting = append(d.Next.Waiting, r.waiting...)
	if !in.mayAct(topological) {
		d.Evict = r.evict
	}
	if r.refused == "" || len(r.evict)+len(r.vacate)+len(r.waiting) > 0 {
		d.sooner(in.rolling())
	}
	if len(d.Evict) > 0 {
		d.sooner(evicting)
	}
	if len(r.vacate) == 0 {
		// A roll that is refused keeps nothing else from being done.
		return r.refused == "" || len(r.evict) > 0
	}
	desired.Vacate = r.vacate
	p := converge.Decide(desired, *in.Seen.View)
	if len(p.Steps) > 0 {
		in.start(d, in.order(desired, p))
	} else {
		d.Next.Waiting = append(d.Next.Waiting, status.WaitingFor(p)...)
	}
	return true
}

// roll looks at all shards. At most rollout.maxParallelShards are not whole at a time.
func (in Input) roll(parties []party) roll {
	var r roll
	free := int(in.Cluster.MaxParallelShards())
	for _, p := range parties {
		if !p.whole() {
			free--
		}
	}
	for _, p := range parties {
		for _, m := range p.members {
			if m.stale() {
				r.stale++
			}
		}
		before := len(r.evict) + len(r.vacate)
		in.rollShard(p, free > 0, &r)
		if p.whole() && len(r.evict)+len(r.vacate) > before {
			free--
		}
	}
	return r
}

// whole is whether every pod that a shard should have is good.
func (p party) whole() bool {
	if int32(len(p.members)) < p.wanted {
		return false
	}
	for _, m := range p.members {
		if !m.good {
			return false
		}
	}
	return true
}

// rollShard finds the next pod of one shard. free is whether a shard that is whole may
// begin.
func (in Input) rollShard(p party, free bool, r *roll) {
	stale := 0
	var primary *member
	for i := range p.members {
		if p.members[i].stale() {
			stale++
		}
		if p.members[i].primary {
			primary = &p.members[i]
		}
	}
	if stale == 0 {
		return
	}
	if m := in.broken(p, primary); m != nil {
		r.evict = append(r.evict, eviction(m, "it does not work, and "+m.why))
		return
	}
	if !p.whole() {
		r.waiting = append(r.waiting, fmt.Sprintf("shard %d is to be whole before its next pod is replaced: %s", p.shard, p.lacks()))
		return
	}
	if !free {
		return
	}
	for i := len(p.members) - 1; i >= 0; i-- {
		if m := &p.members[i]; m.stale() && !m.primary {
			r.evict = append(r.evict, eviction(m, "it is a replica, and "+m.why))
			return
		}
	}
	switch {
	case len(p.members) > 1:
		r.vacate = append(r.vacate, primary.Name)
	case in.expendable():
		r.evict = append(r.evict, eviction(primary, "it "+primary.why))
	default:
		r.refused = fmt.Sprintf("pod %s has the only copy of its data, which is not persisted: rolling it loses the data, unless rollout.allowDataLoss is true", primary.Name)
	}
}

// expendable is whether a pod may be replaced that has the only copy of its data.
func (in Input) expendable() bool { return in.Cluster.Persisted() || in.Cluster.DataLossAllowed() }

// broken is a pod with an older template that does not work anyhow, so that nothing is lost
// with it: what makes it work may be in the newer one.
func (in Input) broken(p party, primary *member) *member {
	for i := len(p.members) - 1; i >= 0; i-- {
		m := &p.members[i]
		if !m.stale() || m.good || m.primary || m.Deleting || m.told && m.Ready {
			continue
		}
		// With the shard's data elsewhere it is a replica; else it may be what has it.
		if primary != nil && primary.told || m.Waiting != "" && m.stopped && in.lost() {
			return m
		}
	}
	return nil
}

// lost is whether a pod whose server does not run has nothing that would go with it: its
// data is in a claim, or went with the process.
func (in Input) lost() bool {
	return in.expendable() || in.Cluster.StorageMode() == v1alpha1.StorageNone
}

// lacks says which pod a shard waits for.
func (p party) lacks() string {
	for _, m := range p.members {
		if !m.good {
			switch {
			case m.Deleting:
				return "pod " + m.Name + " stops"
			case !m.told:
				return "pod " + m.Name + " does not answer"
			case !m.Ready:
				return "pod " + m.Name + " is not ready"
			default:
				return "pod " + m.Name + " has not caught up"
			}
		}
	}
	return fmt.Sprintf("%d of %d pods are there", len(p.members), p.wanted)
}

func eviction(m *member, why string) Eviction {
	return Eviction{Pod: m.Name, UID: string(m.UID), Why: why}
}
