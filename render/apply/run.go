// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/valkey-render/valkey-render/render/order"
)

// Run applies what was planned, cluster by cluster. The results are what was done,
// also when there is an error.
func (p *Plan) Run(ctx context.Context) ([]Result, error) {
	var problems []error
	for _, u := range p.units {
		if err := p.runUnit(ctx, u); err != nil {
			problems = append(problems, err)
		}
		if err := ctx.Err(); err != nil {
			break
		}
	}
	return p.Done(), errors.Join(problems...)
}

// Done are the changes made so far, by Run and then by Wait.
func (p *Plan) Done() []Result {
	var out []Result
	for _, u := range p.units {
		out = append(out, Result{Namespace: u.cluster.Namespace, Name: u.cluster.Name, Changes: append([]Change{}, u.done...)})
	}
	return out
}

// runUnit is the order that everything else here relies on: what is about to
// exist is recorded, then made, stage by stage; what should not exist is deleted
// only when all that should does; and only then is the record what was asked for.
func (p *Plan) runUnit(ctx context.Context, u *unit) error {
	if err := p.record(ctx, u); err != nil {
		return err
	}
	if err := p.drain(ctx, u); err != nil {
		return err
	}
	if err := p.stages(ctx, u); err != nil {
		return err
	}
	survivors, errPrune := p.prune(ctx, u)
	// What could not be read, because the run was stopped, is still recorded.
	if err := ctx.Err(); err != nil {
		return errors.Join(errPrune, ctx.Err())
	}
	return errors.Join(errPrune, p.promote(ctx, u, survivors))
}

// record writes down what may exist from now on.
func (p *Plan) record(ctx context.Context, u *unit) error {
	if !u.cluster.Complete {
		return nil
	}
	desired := u.cluster.ids()
	if len(without(desired, u.inventory.known())) == 0 && u.inventory.intent == "" {
		return nil
	}
	u.inventory.pending = union(u.inventory.pending, desired)
	u.inventory.intent = ""
	return p.save(ctx, u)
}

func (p *Plan) save(ctx context.Context, u *unit) error {
	return p.applier.save(ctx, u.cluster, u.inventory)
}

// save writes an inventory that is not stored as it is.
func (a *Applier) save(ctx context.Context, c Cluster, record *inventory) error {
	if record.stored() && record.owned(a.options.Owner) {
		return nil
	}
	if err := a.before("write " + inventoryID(c.Namespace, c.Name).String()); err != nil {
		return err
	}
	return record.write(ctx, a.client, c.Namespace, c.Name, a.options.Owner)
}

// stages applies the objects of one stage together and goes on to the next only
// when all of them are in: a StatefulSet before its claims would have some made
// from its template.
func (p *Plan) stages(ctx context.Context, u *unit) error {
	for start := 0; start < len(u.steps); {
		end := start
		stage := order.StageOf(u.steps[start].rendered)
		for end < len(u.steps) && order.StageOf(u.steps[end].rendered) == stage {
			end++
		}
		if err := p.stage(ctx, u, u.steps[start:end]); err != nil {
			return err
		}
		start = end
	}
	return nil
}

func (p *Plan) stage(ctx context.Context, u *unit, steps []step) error {
	changes := make([]Change, len(steps))
	p.applier.each(ctx, len(steps), func(ctx context.Context, i int) {
		changes[i] = steps[i].change
		if !steps[i].due() {
			return
		}
		err := ctx.Err()
		if err == nil {
			err = p.applier.before("apply " + steps[i].change.String())
		}
		if err != nil {
			changes[i] = failed(steps[i].change.ID, err)
			return
		}
		changes[i] = p.applier.write(ctx, u.cluster, &steps[i])
	}, func(i int) { p.applier.options.OnChange(changes[i]) })
	u.done = append(u.done, changes...)
	return joinFailures(changes)
}

// prune deletes what is no longer rendered, and returns what remains.
func (p *Plan) prune(ctx context.Context, u *unit) (survivors []ID, err error) {
	return p.pruneTelling(ctx, u, p.applier.options.OnChange)
}

// pruneTelling judges each object right before it goes: what was read at the
// first may not hold at the last.
func (p *Plan) pruneTelling(ctx context.Context, u *unit, tell func(Change)) (survivors []ID, err error) {
	var changes []Change
	for i, id := range slices.Backward(u.stale) {
		c, err := p.judgeNow(ctx, u, id)
		if err != nil {
			// Those that it has not come to are still there.
			return union(surviving(changes), u.stale[:i+1]), errors.Join(joinFailures(changes), err)
		}
		if c.Action == "" {
			continue
		}
		c = p.applier.remove(ctx, c)
		tell(c)
		changes = append(changes, c)
		u.done = append(u.done, c)
	}
	return surviving(changes), joinFailures(changes)
}

func (p *Plan) judgeNow(ctx context.Context, u *unit, id ID) (Change, error) {
	g, err := p.applier.readGuard(ctx, u.cluster, nil)
	if err != nil {
		return Change{}, err
	}
	if u.drain != nil && u.drain.emptied {
		for _, shard := range u.drain.shards {
			g.drained[strconv.Itoa(int(shard))] = true
		}
	}
	return p.applier.judge(ctx, g, id)
}

// surviving is what is still there after a prune and is ours to remember.
func surviving(changes []Change) []ID {
	var out []ID
	for _, c := range changes {
		if c.Action == Held || c.Action == Failed || isGoing(c) {
			out = append(out, c.ID)
		}
	}
	return out
}

// isGoing reports whether an object that was deleted is still there.
func isGoing(c Change) bool { return c.Action == Deleted && c.Live.GetDeletionTimestamp() != nil }

// promote makes the record what was asked for, and what could not be deleted.
func (p *Plan) promote(ctx context.Context, u *unit, survivors []ID) error {
	if !u.cluster.Complete {
		return nil
	}
	u.inventory.objects = union(survivors, u.cluster.ids())
	u.inventory.pending = nil
	u.stale = union(survivors, nil)
	return p.save(ctx, u)
}

// isNotInstalled reports whether the server does not have a kind.
func isNotInstalled(err error) bool { return err != nil && meta.IsNoMatchError(err) }
