// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Plan is what applying clusters would change, found by dry runs of every object
// before the first write.
type Plan struct {
	applier *Applier
	units   []*unit
}

// unit is one cluster on its way.
type unit struct {
	cluster   Cluster
	inventory *inventory
	steps     []step
	// stale are the objects that are in the inventory and no longer rendered.
	stale  []ID
	prunes []Change
	// done are the changes made so far.
	done []Change
}

// Plan reads and dry-runs every object. An error names everything that would
// fail; nothing has been written then.
func (a *Applier) Plan(ctx context.Context, clusters []Cluster) (*Plan, error) {
	p := &Plan{applier: a}
	for _, c := range clusters {
		u := &unit{cluster: c, inventory: &inventory{}, steps: make([]step, len(c.Objects))}
		if c.Complete {
			read, err := readInventory(ctx, a.client, c.Namespace, c.Name)
			if err != nil {
				return p, err
			}
			u.inventory = read
			u.stale = without(read.known(), c.ids())
		}
		p.units = append(p.units, u)
	}
	type at struct{ unit, step int }
	var all []at
	for i, u := range p.units {
		for j := range u.steps {
			all = append(all, at{i, j})
		}
	}
	a.each(ctx, len(all), func(ctx context.Context, i int) {
		u := p.units[all[i].unit]
		if ctx.Err() == nil {
			u.steps[all[i].step] = a.examine(ctx, u.cluster, u.cluster.Objects[all[i].step])
		}
	}, func(int) {})
	if err := ctx.Err(); err != nil {
		return p, ctx.Err()
	}
	for _, u := range p.units {
		changes, err := a.judgeAll(ctx, u, u.cluster.spec())
		if err != nil {
			return p, err
		}
		u.prunes = changes
	}
	p.tellNotes()
	return p, p.problems()
}

// Results are the planned changes.
func (p *Plan) Results() []Result {
	var out []Result
	for _, u := range p.units {
		r := Result{Namespace: u.cluster.Namespace, Name: u.cluster.Name, Changes: []Change{}}
		for _, s := range u.steps {
			if s.change.Action != "" {
				r.Changes = append(r.Changes, s.change)
			}
		}
		r.Changes = append(r.Changes, u.prunes...)
		out = append(out, r)
	}
	return out
}

// problems joins what would fail. The same answer about many objects, such as an
// absent namespace, is given once.
func (p *Plan) problems() error {
	var changes []Change
	for _, r := range p.Results() {
		changes = append(changes, r.Changes...)
	}
	return joinFailures(changes)
}

func joinFailures(changes []Change) error {
	var order []string
	same := map[string][]Change{}
	for _, c := range changes {
		if c.Action != Failed {
			continue
		}
		if _, seen := same[c.Message]; !seen {
			order = append(order, c.Message)
		}
		same[c.Message] = append(same[c.Message], c)
	}
	var out []error
	for _, message := range order {
		first, others := same[message][0], len(same[message])-1
		switch others {
		case 0:
			out = append(out, first.err)
		case 1:
			out = append(out, fmt.Errorf("%w (and 1 more object)", first.err))
		default:
			out = append(out, fmt.Errorf("%w (and %d more objects)", first.err, others))
		}
	}
	return errors.Join(out...)
}

// tellNotes passes on what examining has found, one line for each kind of note.
func (p *Plan) tellNotes() {
	for _, u := range p.units {
		var notes []string
		others := map[string]int{}
		for _, s := range u.steps {
			for _, note := range s.notes {
				_, about, found := strings.Cut(note, ": ")
				if found && strings.HasSuffix(about, "changes") {
					others[about]++
					continue
				}
				notes = append(notes, note)
			}
		}
		for about, n := range others {
			notes = append(notes, fmt.Sprintf("%s: %d of %d objects: %s", u.cluster, n, len(u.steps), about))
		}
		slices.Sort(notes)
		for _, note := range notes {
			p.applier.options.OnNote(note)
		}
	}
}
