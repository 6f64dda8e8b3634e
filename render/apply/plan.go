// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/valkey-render/valkey-render/render/name"
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
	// drain empties shards before they go; nil when none is to be emptied.
	drain *drain
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
		changes, g, err := a.judgeAll(ctx, u, u.cluster.spec())
		if err != nil {
			return p, err
		}
		u.prunes = changes
		if err := u.planDrain(g); err != nil {
			return p, err
		}
	}
	for _, u := range p.units {
		u.noteJobs()
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

// Refused are the planned changes that would fail, of clusters that have any.
func (p *Plan) Refused() []Result {
	var out []Result
	for _, r := range p.Results() {
		r.Changes = slices.DeleteFunc(r.Changes, func(c Change) bool { return c.Action != Failed })
		if len(r.Changes) > 0 {
			out = append(out, r)
		}
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

// joinReads joins errors of reads. The same answer about many objects is given once.
func joinReads(problems []error) error {
	var changes []Change
	for _, err := range problems {
		if read, ok := errors.AsType[*ObjectError](err); ok {
			changes = append(changes, Change{ID: read.ID, Action: Failed, Message: explain(read.Err), err: err})
		} else if err != nil {
			changes = append(changes, Change{Action: Failed, Message: err.Error(), err: err})
		}
	}
	return joinFailures(changes)
}

// noteJobs says that a Job which forms the cluster has done so already, and will not for
// pods that are about to be made. A Job runs once, whatever becomes of the servers.
func (u *unit) noteJobs() {
	made := slices.IndexFunc(u.steps, func(s step) bool { return s.change.Kind == "StatefulSet" && s.change.Action == Created })
	if made < 0 {
		return
	}
	for i := range u.steps {
		s := &u.steps[i]
		if s.completed && strings.HasPrefix(s.change.Name, name.RenderedJob(u.cluster.Name, "converge", "")) {
			s.note("it completed before %s was made: where pods start without their data, delete it and apply again", u.steps[made].change.ID)
		}
	}
}

// tellNotes passes on what examining has found, sorted; what is true of many objects of a
// cluster in one line.
func (p *Plan) tellNotes() {
	for _, u := range p.units {
		var notes []string
		common := map[string]int{}
		for _, s := range u.steps {
			for _, n := range s.notes {
				if n.common {
					common[n.text]++
					continue
				}
				notes = append(notes, n.String())
			}
		}
		for text, n := range common {
			notes = append(notes, fmt.Sprintf("%s: %d of %d objects: %s", u.cluster, n, len(u.steps), text))
		}
		slices.Sort(notes)
		for _, text := range notes {
			p.applier.options.OnNote(text)
		}
	}
}
