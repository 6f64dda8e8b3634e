// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"slices"
)

// Wait waits for what was applied, deletes what was held as soon as it may go, and
// grows claims as soon as they are bound.
func (p *Plan) Wait(ctx context.Context) ([]Status, error) {
	var clusters []Cluster
	for _, u := range p.units {
		clusters = append(clusters, u.cluster)
	}
	w := p.applier.newWaiter(ctx, clusters)
	w.held, w.applied = p.release, true
	return w.wait(ctx)
}

// release does what could not be done before, and returns what still is to go.
func (p *Plan) release(ctx context.Context) ([]Status, error) {
	var out []Status
	for _, u := range p.units {
		held, err := p.pruneAgain(ctx, u)
		out = append(out, held...)
		if err == nil {
			err = p.grow(ctx, u)
		}
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// pruneAgain prunes what was held, and returns what is still there.
func (p *Plan) pruneAgain(ctx context.Context, u *unit) ([]Status, error) {
	if len(u.stale) == 0 {
		return nil, p.save(ctx, u)
	}
	// Each look finds out anew what becomes of these.
	u.done = slices.DeleteFunc(u.done, func(c Change) bool { return slices.Contains(u.stale, c.ID) })
	var out []Status
	survivors, err := p.pruneTelling(ctx, u, func(c Change) {
		if c.Action == Held || isGoing(c) {
			out = append(out, Status{ID: c.ID, State: Waiting, Message: c.Message})
			return
		}
		p.applier.options.OnChange(c)
	})
	if err == nil {
		err = p.promote(ctx, u, survivors)
	}
	return out, err
}

// grow applies claims again that could not grow before they were bound.
func (p *Plan) grow(ctx context.Context, u *unit) error {
	for i := range u.steps {
		if !u.steps[i].grows {
			continue
		}
		s := p.applier.examine(ctx, u.cluster, u.steps[i].rendered)
		c := s.change
		if s.due() && !s.grows {
			c = p.applier.write(ctx, u.cluster, &s)
		}
		switch {
		case c.Action == Failed:
			return c.err
		case s.grows:
			continue
		}
		u.steps[i] = s
		if c.Action == Configured {
			p.applier.options.OnChange(c)
			at := slices.IndexFunc(u.done, func(done Change) bool { return done.ID == c.ID && done.Action == Unchanged })
			if at >= 0 {
				u.done[at] = c
			}
		}
	}
	return nil
}
