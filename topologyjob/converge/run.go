// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package converge

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/plan"
	"github.com/valkey-render/valkey-render/topologyjob/step"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// Kind is what a Job is for.
type Kind string

// What a Job is for. All of them act on the same chain of checks, that of their topology;
// they differ in when they are done. Those after Failover are for topology Cluster, Converge
// for Cluster and Standalone.
const (
	// Bootstrap forms the cluster and is done when every pod has its place.
	Bootstrap Kind = "bootstrap"
	// Repair puts right what is wrong, and is done when every pod that answers has its
	// place. Handover, failover and takeover are a repair for a reason: pods in
	// Desired.Vacate, a dead primary, a lost majority.
	Repair   Kind = "repair"
	Handover Kind = "handover"
	Failover Kind = "failover"
	Takeover Kind = "takeover"
	// Rebalance moves slots until every shard has as many and none beyond the wanted count
	// has any.
	Rebalance Kind = "rebalance"
	// Drain moves the slots of shards beyond the wanted count away.
	Drain Kind = "drain"
	// Reshard moves the slots that Desired.Reshard tells.
	Reshard Kind = "reshard"
	// Converge is for a cluster without a reconciler: it forms it, puts it right and,
	// where Desired.RebalanceEnabled says so, evens it out. It empties no shard.
	Converge Kind = "converge"
)

// repairs is whether a kind is done when all is well that answers.
func (k Kind) repairs() bool {
	return k == Repair || k == Handover || k == Failover || k == Takeover
}

// aim is what a kind wants: only those that are for it begin to move slots.
func (k Kind) aim(d plan.Desired) plan.Desired {
	switch k {
	case Rebalance:
		d.Drain, d.RebalanceEnabled, d.Reshard = true, true, nil
	case Drain:
		// Evening out at the same time is what keeps a slot from moving twice.
		d.Drain, d.Reshard = true, nil
	case Converge:
		d.Drain, d.Reshard = false, nil
	case Reshard:
		d.Drain, d.RebalanceEnabled = false, false
	default:
		d.Drain, d.RebalanceEnabled, d.Reshard = false, false, nil
	}
	return d
}

// Clock is the time.
type Clock interface {
	Now() time.Time
	// Sleep waits; it returns the context's error when that ends first.
	Sleep(ctx context.Context, d time.Duration) error
}

// Options say what to converge, and with what.
type Options struct {
	Kind    Kind
	Desired plan.Desired
	Pods    []survey.Pod
	// Sentinels are the pods of sentinels, in topology Sentinel.
	Sentinels []survey.Pod
	Asker     survey.Asker
	// Find, when not nil, is where a pod is at this moment by its ServerName. It is asked about
	// those that do not answer before somebody takes their place.
	Find  func(ctx context.Context, name string) (string, error)
	Clock Clock
	// Wait goes on until the context ends. Else a run ends when there was nothing to do for a
	// while but to wait.
	Wait bool
	// DryRun makes no step: the first plan is the outcome.
	DryRun bool
	// Patience is how long a step looks for its proof, 0 for the default of package step.
	Patience time.Duration
	// Login is who servers log in as at others to move keys; nil is nobody.
	Login func() (node.Login, error)
	// SentinelLogin is who sentinels log in as at servers; nil is nobody. SentinelSettings
	// are what they are told about the primary.
	SentinelLogin    func() (node.Login, error)
	SentinelSettings map[string]string
	// OnProgress, when not nil, is told how far moves of slots are. Calls do not overlap.
	OnProgress func(Progress)
	// OnPlan, when not nil, is told every plan that differs from the one before.
	OnPlan func(plan.Plan)
	// OnStep, when not nil, is told every step that ended.
	OnStep func(plan.Step, error)
}

// pauses between passes that wait, and between the two looks that a block takes.
const (
	firstPause = 20 * time.Millisecond
	lastPause  = time.Second
)

// lull is for how long a run that does not wait has nothing to do before it ends: in that time
// servers hear of each other, elect, and copy what is small.
const lull = 10 * time.Second

// Run converges until the context ends: its deadline is the Job's.
func Run(ctx context.Context, o Options) Outcome {
	r := run{Options: o, out: Outcome{Kind: o.Kind, Steps: map[string]int{}}}
	r.Desired = o.Kind.aim(o.Desired)
	r.stranded, r.Pods = stranded{}, slices.Clone(o.Pods)
	r.Asker.Topology, r.Asker.Sentinels = o.Desired.Topology, o.Sentinels
	r.moves = &moves{clock: o.Clock, told: o.OnProgress, running: map[string]bool{}}
	started := o.Clock.Now()
	r.busy = started
	r.loop(ctx)
	r.out.MovedSlots, r.out.MovedKeys, r.out.MovedBytes = r.moves.done.Slots, r.moves.done.Keys, r.moves.done.Bytes
	r.out.Seconds = o.Clock.Now().Sub(started).Seconds()
	return r.out
}

type run struct {
	Options
	out   Outcome
	last  string
	pause time.Duration
	// blocks counts looks in a row that were blocked.
	blocks   int
	moves    *moves
	stranded stranded
	// busy is when there was something to do last.
	busy time.Time
}

func (r *run) loop(ctx context.Context) {
	for {
		view := r.Asker.Take(ctx, r.Pods)
		if r.ended(ctx) {
			return
		}
		r.stranded.tell(view, r.Clock.Now())
		p := Decide(r.Desired, view)
		r.out.note(view, p)
		r.out.Drained = drained(r.Desired, view)
		moving := r.plans(p)
		lost := r.moves.look(view)
		if lost != nil {
			r.out.failure(lost)
		}
		if r.OnPlan != nil && p.String() != r.last {
			r.OnPlan(p)
		}
		changed := p.String() != r.last
		r.last = p.String()
		if r.over(p) {
			return
		}
		if p.Blocked == nil {
			r.blocks = 0
		}
		if lost != nil && moving {
			// A context that ends is seen by the next pass.
			_ = r.Clock.Sleep(ctx, r.moves.backoff())
			continue
		}
		r.act(ctx, view, p)
		if len(p.Steps) > 0 {
			r.busy = r.Clock.Now()
		}
		if changed {
			r.pause = firstPause
		} else {
			r.pause = min(2*r.pause, lastPause)
		}
		// Steps that leave the same to do again are not done again at once.
		if len(p.Steps) == 0 || r.out.failed || !changed {
			// A context that ends is seen by the next pass.
			_ = r.Clock.Sleep(ctx, max(r.pause, r.moves.backoff()))
		}
	}
}

// over reports whether a plan is the last one, and how the run has ended.
func (r *run) over(p plan.Plan) bool {
	switch {
	case p.Blocked != nil:
		// What looks like foreign data may be a MEET halfway: look twice.
		if r.blocks++; r.blocks > 1 || r.DryRun {
			r.out.Result = Stuck
			return true
		}
	case r.DryRun:
		r.out.Result = Planned
		return true
	case r.moves.failures >= mostFailures:
		r.out.Result, r.out.Reason, r.out.Message = Stuck, MoveFailed, r.out.LastError
		return true
	case p.Done() || r.Kind.repairs() && p.DoneWithout():
		r.out.Result = Converged
		return true
	case !r.Wait && len(p.Steps) == 0 && r.Clock.Now().Sub(r.busy) >= lull:
		r.out.Result = Unfinished
		return true
	}
	return false
}

// act does the steps of a plan up to the first that fails.
func (r *run) act(ctx context.Context, view survey.View, p plan.Plan) {
	env := step.Env{
		Pool: r.Asker.Pool, Find: r.Find, Sleep: r.Clock.Sleep, Now: r.Clock.Now, Patience: r.Patience,
		Login: r.Login, OnProgress: r.moves.add, SentinelLogin: r.SentinelLogin, SentinelSettings: r.SentinelSettings,
	}
	r.out.failed = false
	for _, s := range p.Steps {
		err := env.Run(ctx, view, s)
		r.moves.ended(s, err)
		r.stranded.ended(err, r.Clock.Now())
		if r.OnStep != nil {
			r.OnStep(s, err)
		}
		if err != nil {
			r.found(err)
			r.out.failure(err)
			r.out.FailedStep = s.Kind()
			return
		}
		r.out.Steps[s.Kind()]++
	}
}

// found has a pod asked where it is by now. Should it not answer there later on, its server may
// run nevertheless.
func (r *run) found(err error) {
	raced, ok := errors.AsType[*step.RacedError](err)
	if !ok || raced.IP == "" {
		return
	}
	for i := range r.Pods {
		if p := &r.Pods[i]; p.Name == raced.Pod {
			p.Host, p.Runs = raced.IP, survey.Running
		}
	}
}

// ended reports whether the context is over, and says so in the outcome.
func (r *run) ended(ctx context.Context) bool {
	err := ctx.Err()
	if err == nil {
		return false
	}
	r.out.Result = Interrupted
	if errors.Is(err, context.DeadlineExceeded) {
		r.out.Result = TimedOut
	}
	return true
}

// plans takes over what a plan says of moves of slots, and reports whether it has any. The
// slots of a reshard are picked once: picked again after some have moved, they would be others.
func (r *run) plans(p plan.Plan) bool {
	moving := false
	for _, s := range p.Steps {
		m, ok := s.(plan.MoveSlots)
		if !ok {
			continue
		}
		moving = true
		r.moves.begin(m)
		if r.Desired.Reshard != nil && len(r.Desired.Reshard.Slots) == 0 {
			picked := *r.Desired.Reshard
			picked.Slots = m.Picked
			r.Desired.Reshard = &picked
		}
	}
	return moving
}
