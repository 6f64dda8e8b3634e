// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package step

import (
	"context"
	"slices"
	"strconv"

	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/plan"
	"github.com/valkey-render/valkey-render/topologyjob/slot"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// assign gives slots to primaries. The server itself refuses a slot that it knows an owner
// of, and all slots of the command with it.
func (e Env) assign(ctx context.Context, s plan.Assign) error {
	return each(s.Claims, func(c plan.Claim) error {
		p, now, err := e.look(ctx, c.Ref)
		if err != nil {
			return err
		}
		left := c.Slots.Minus(now.Own().Slots)
		switch {
		case left.Count() == 0:
			return nil
		case now.Own().Replica:
			return &RacedError{Pod: c.Pod, What: "is a replica by now"}
		}
		declined, err := e.declined(ctx, c, s.Gone, now, left)
		if err != nil {
			return err
		}
		if free := left.Minus(declined); free.Count() > 0 {
			words := []string{"CLUSTER", "ADDSLOTSRANGE"}
			for _, r := range free {
				words = append(words, strconv.Itoa(r.First), strconv.Itoa(r.Last))
			}
			if err := e.do(ctx, p, words...); err != nil {
				return err
			}
		}
		for _, n := range list(declined) {
			if err := e.do(ctx, p, "CLUSTER", "SETSLOT", strconv.Itoa(n), "NODE", c.ID); err != nil {
				return err
			}
		}
		return e.until(ctx, p, "owns slots "+c.Slots.String(), func(ctx context.Context) (bool, error) {
			now, err := e.nodes(ctx, p)
			return err == nil && now.Own().Slots.Covers(c.Slots), err
		})
	})
}

// declined are the slots of which a node takes another one for the owner that says itself that
// it is not: somebody told the one and not the other. That does not mend: a server believes in
// an owner until another claims the slot. With them come those that the node was importing
// from one that is gone: it claims these with a new config epoch, so that all believe it.
func (e Env) declined(ctx context.Context, c plan.Claim, gone []string, now survey.Answer, left slot.Ranges) (slot.Ranges, error) {
	var all slot.Ranges
	for _, entry := range now.Nodes {
		both := entry.Slots.And(left)
		if entry.Myself || both.Count() == 0 {
			continue
		}
		owned := &RacedError{Pod: c.Pod, What: "slots " + both.String() + " have an owner by now"}
		ref, found := e.ref(entry.ID)
		if !found && slices.Contains(gone, entry.ID) && !entry.Alive() && imports(now.Own(), both) {
			all = all.Plus(both)
			continue
		}
		if !found {
			return nil, owned
		}
		_, its, err := e.look(ctx, ref)
		if err != nil {
			return nil, err
		}
		if its.Own().Slots.And(both).Count() > 0 {
			return nil, owned
		}
		all = all.Plus(both)
	}
	return all, nil
}

// imports is whether a node marks slots as importing.
func imports(own node.Entry, slots slot.Ranges) bool {
	return !slices.ContainsFunc(list(slots), func(n int) bool {
		return !own.Imports(n)
	})
}

// ref is the pod that had an ID in the survey.
func (e Env) ref(id string) (plan.Ref, bool) {
	for pod, answer := range e.answers {
		if answer.Answered() && answer.ID == id {
			return plan.Ref{Pod: pod, ID: id}, true
		}
	}
	return plan.Ref{}, false
}
