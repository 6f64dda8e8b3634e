// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/topologyjob/slot"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// Desired is what is wanted.
type Desired struct {
	// Topology decides which checks are made; "" is Cluster. The others have one shard.
	Topology v1alpha1.Topology `json:"topology,omitempty"`
	// Shards is how many there are to be, Replicas how many replicas each has.
	Shards   int32 `json:"shards"`
	Replicas int32 `json:"replicas"`
	// Initialized is whether the cluster was ever formed (status.clusterInitialized).
	Initialized bool `json:"initialized,omitempty"`
	// Durable is whether data is meant to outlive the pods (profile Durable). Slots of a
	// Durable cluster that nobody owns are never handed out again by themselves.
	Durable bool `json:"durable,omitempty"`
	// AcceptLoss are slots whose data a human has given up.
	AcceptLoss slot.Ranges `json:"acceptLoss,omitempty"`
	// NodeTimeout is cluster-node-timeout.
	NodeTimeout time.Duration `json:"nodeTimeout,omitempty"`
	// Takeover allows a TAKEOVER, without votes, when a majority of primaries is lost.
	Takeover bool `json:"takeover,omitempty"`
	// Vacate are pods that are to be no primary: they are about to be restarted or removed.
	Vacate []string `json:"vacate,omitempty"`
	// Spread hands primaries over until no place has two more than another could have.
	Spread Spread `json:"spread,omitempty"`
	// Patience, when not 0, takes the place of all waits that are counted in node timeouts.
	Patience time.Duration `json:"patience,omitempty"`
	// Drain is whether the slots of shards beyond the wanted count are to move away now.
	Drain bool `json:"drain,omitempty"`
	// RebalanceEnabled is whether slots are to move now until all shards have as many
	// (spec.rebalance.enabled).
	RebalanceEnabled bool `json:"rebalanceEnabled,omitempty"`
	// Reshard, when not nil, are slots that are to move to a shard.
	Reshard *Reshard `json:"reshard,omitempty"`
	// Primary, when not "", is the pod that is to be the primary, by handover (Replication,
	// Sentinel).
	Primary string `json:"primary,omitempty"`
	// Keep, when not "", is the pod whose data is kept where it cannot be told which is the
	// newest (Replication, Sentinel). It is a human's choice: what others have is given up.
	Keep string `json:"keep,omitempty"`
	// Detection is for how long nothing may have been heard of a primary before it counts as
	// gone, 3 s when 0 (Replication).
	Detection time.Duration `json:"detection,omitempty"`
	// Sentinels is how many sentinels there are to be, Quorum how many have to agree that a
	// primary is down (Sentinel).
	Sentinels int32 `json:"sentinels,omitempty"`
	Quorum    int   `json:"quorum,omitempty"`
	// ReplicaPriority is the replica-priority of servers that may be promoted; 0 leaves it
	// as it is (Sentinel).
	ReplicaPriority int `json:"replicaPriority,omitempty"`
	// BatchSlots is how many slots one move takes at most, 512 when 0, and MaxConcurrent
	// how many moves run at once, 4 when 0.
	BatchSlots    int `json:"batchSlots,omitempty"`
	MaxConcurrent int `json:"maxConcurrent,omitempty"`
}

// batch is how many slots one move takes at most.
func (d Desired) batch() int {
	if d.BatchSlots <= 0 {
		return 512
	}
	return d.BatchSlots
}

// concurrent is how many moves run at once.
func (d Desired) concurrent() int {
	if d.MaxConcurrent <= 0 {
		return 4
	}
	return d.MaxConcurrent
}

// Spread is over which places primaries are to be spread.
type Spread string

// Where primaries are spread.
const (
	SpreadNone  Spread = ""
	SpreadNodes Spread = "Nodes"
	SpreadZones Spread = "Zones"
)

// after is a wait of so many node timeouts, and of so long at least.
func (d Desired) after(timeouts int, least time.Duration) time.Duration {
	if d.Patience > 0 {
		return d.Patience
	}
	return max(time.Duration(timeouts)*d.NodeTimeout, least)
}

// Formula are the slots that a shard gets when the cluster is formed, none for one beyond
// the wanted count.
func (d Desired) Formula(shard int32) slot.Ranges {
	if shard < 0 || shard >= d.Shards {
		return nil
	}
	return slot.Bootstrap(shard, d.Shards)
}

// Reason says in one word why nothing may be done; the words are those of conditions.
type Reason string

// Why nothing may be done.
const (
	// ForeignData: nodes of two clusters, or data that cannot be told whose it is.
	ForeignData Reason = "ForeignData"
	// SlotsLost: slots without owner in a cluster that had one for them.
	SlotsLost Reason = "SlotsLost"
	// QuorumLost: a majority of primaries is lost and nobody may take over.
	QuorumLost Reason = "QuorumLost"
	// PrimaryDown: there is no primary, and none can be chosen without guessing (topologies
	// without slots).
	PrimaryDown Reason = "PrimaryDown"
	// BadReshard: slots that cannot be moved as told.
	BadReshard Reason = "BadReshard"
)

// Blocked is why nothing may be done without a human.
type Blocked struct {
	Reason  Reason `json:"reason"`
	Message string `json:"message"`
}

// Wait is something that has to happen by itself.
type Wait struct {
	// Check is the name of the check that waits.
	Check string `json:"check"`
	// Pod is the pod that it waits for, "" when it is for several or none.
	Pod string `json:"pod,omitempty"`
	// Message says for what.
	Message string `json:"message"`
	// Absent is true when it is only for a pod that does not answer: a repair may end
	// without it.
	Absent bool `json:"absent,omitempty"`
	// Fence is true when the pod may still be a primary that nobody reaches: what is waited
	// for goes on once Kubernetes says that nothing of it runs.
	Fence bool `json:"fence,omitempty"`
}

// Plan is what to do next.
type Plan struct {
	// Check is the name of the check that decided, "" when nothing is to be done.
	Check string `json:"check,omitempty"`
	// Steps are done in this order; the next survey follows.
	Steps []Step `json:"-"`
	// Waiting is what has to happen by itself.
	Waiting []Wait `json:"waiting,omitempty"`
	// Blocked, when not nil, is why there are no steps.
	Blocked *Blocked `json:"blocked,omitempty"`
}

// MarshalJSON adds the steps, each with its kind, its reason and itself, and the line that
// String is.
func (p Plan) MarshalJSON() ([]byte, error) {
	type plain Plan
	type step struct {
		Kind    string `json:"kind"`
		Does    string `json:"does"`
		Because string `json:"because"`
		Details Step   `json:"details"`
	}
	var steps []step
	for _, s := range p.Steps {
		steps = append(steps, step{s.Kind(), s.String(), s.Why(), s})
	}
	return json.Marshal(struct {
		Summary string `json:"summary"`
		plain
		Steps []step `json:"steps,omitempty"`
	}{p.String(), plain(p), steps})
}

// Done reports whether everything is as wanted.
func (p Plan) Done() bool { return len(p.Steps) == 0 && len(p.Waiting) == 0 && p.Blocked == nil }

// DoneWithout reports whether everything is as wanted but for pods that do not answer.
func (p Plan) DoneWithout() bool {
	return len(p.Steps) == 0 && p.Blocked == nil && !slices.ContainsFunc(p.Waiting, func(w Wait) bool { return !w.Absent })
}

// String is one line: "would: MEET 3 nodes, assign 16384 slots to 3 primaries; because …",
// "blocked: …", "waiting: …" or "nothing to do".
func (p Plan) String() string {
	switch {
	case p.Blocked != nil:
		return fmt.Sprintf("blocked: %s: %s", p.Blocked.Reason, p.Blocked.Message)
	case len(p.Steps) > 0:
		var does, why []string
		for _, s := range p.Steps {
			does = append(does, s.String())
			if because := s.Why(); !slices.Contains(why, because) {
				why = append(why, because)
			}
		}
		return "would: " + strings.Join(does, ", ") + "; because " + strings.Join(why, ", and ")
	case len(p.Waiting) > 0:
		var what []string
		for _, w := range p.Waiting {
			what = append(what, w.Message)
		}
		if len(what) > 5 {
			what = append(what[:5], fmt.Sprintf("and %d more", len(p.Waiting)-5))
		}
		return "waiting: " + strings.Join(what, "; ")
	}
	return "nothing to do"
}

// Decide makes the plan of a cluster.
func Decide(desired Desired, view survey.View) Plan {
	s := newSituation(desired, view)
	var p Plan
	for _, c := range chain() {
		found := c.look(s)
		for i := range found.waits {
			found.waits[i].Check = c.name
		}
		p.Waiting = append(p.Waiting, found.waits...)
		if found.blocked != nil || len(found.steps) > 0 {
			p.Check, p.Blocked, p.Steps = c.name, found.blocked, found.steps
			break
		}
		if found.stop {
			break
		}
	}
	return p
}

// check is one link of the chain.
type check struct {
	name string
	look func(*situation) finding
}

// finding is what a check found; the zero value is nothing.
type finding struct {
	steps   []Step
	waits   []Wait
	blocked *Blocked
	// stop ends the chain, when what is waited for decides what comes next.
	stop bool
}

// Names of the checks by whose findings kinds of Jobs are told apart. Elect and HandOver are
// those of topologies without slots.
const (
	CheckQuorum   = "quorum"
	CheckOrphaned = "orphaned"
	CheckVacate   = "vacate"
	CheckSpread   = "spread"
	CheckReshard  = "reshard"
	CheckDrain    = "drain"
	CheckUneven   = "uneven"
	CheckElect    = "elect"
	CheckHandOver = "handover"
)

// chain is the order of the checks. Those that begin to move slots come last, when all
// nodes agree: a move that an election interrupts would have to be done again.
func chain() []check {
	return []check{
		{"reachable", reachable},
		{"histories", histories},
		{"interrupted", interrupted},
		{"open", open},
		{"migrating", migrating},
		{CheckQuorum, quorum},
		{"moved", moved},
		{"isolated", isolated},
		{CheckOrphaned, orphaned},
		{"primaryless", primaryless},
		{"unassigned", unassigned},
		{"attach", attach},
		{"stale", stale},
		{CheckVacate, vacate},
		{CheckSpread, spread},
		{"settled", settled},
		{"doubled", doubled},
		{CheckReshard, reshard},
		{CheckDrain, drain},
		{CheckUneven, uneven},
	}
}
