// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package step

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/plan"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// promote makes replicas the primaries of their shards, one after the other. Handovers at
// the same time would ask for votes in the same epoch, in which each primary has one: the
// replica that gets too few gives up after cluster-manual-failover-timeout, 5 s for which its
// primary takes no writes. Each dead primary that is replaced may give the rest their
// majority back.
func (e Env) promote(ctx context.Context, s plan.Promote) error {
	var failed error
	for _, p := range s.Promotions {
		if s.How != plan.Handover {
			if err := e.replace(ctx, s, p); err != nil {
				return err
			}
			continue
		}
		failed = errors.Join(failed, e.handover(ctx, p))
		if ctx.Err() != nil {
			break
		}
	}
	return failed
}

// handover asks a replica to take its primary's place. An OK only says that it was
// scheduled: the primary stops writes, the replica catches up and is voted for, or it all
// ends by itself after cluster-manual-failover-timeout and nothing has changed.
func (e Env) handover(ctx context.Context, h plan.Promotion) error {
	replica, err := e.peer(ctx, h.Replica)
	if err != nil {
		return err
	}
	primary, err := e.peer(ctx, h.Primary)
	if err != nil {
		return err
	}
	own, err := e.follows(ctx, replica, h)
	if err != nil || !own.Replica {
		return err
	}
	its, err := e.nodes(ctx, primary)
	switch {
	case err != nil:
		return err
	case its.Own().Replica:
		return &RacedError{Pod: h.Primary.Pod, What: "is a replica by now"}
	case len(its.Own().Open) > 0:
		return &RacedError{Pod: h.Primary.Pod, What: "has open slots by now"}
	}
	text, err := node.Ask(ctx, replica.conn, "INFO", "replication").Text()
	if err != nil {
		e.drop(replica, err)
		return fmt.Errorf("pod %s: INFO: %w", h.Replica.Pod, err)
	}
	if node.ParseInfo(text)["master_link_status"] != "up" {
		return &RacedError{Pod: h.Replica.Pod, What: "is not in sync any more"}
	}
	slots := its.Own().Slots
	if err := e.do(ctx, replica, "CLUSTER", "FAILOVER"); err != nil {
		return err
	}
	err = e.until(ctx, replica, "took over from "+h.Primary.Pod, func(ctx context.Context) (bool, error) {
		now, err := e.nodes(ctx, replica)
		return err == nil && !now.Own().Replica && now.Own().Slots.Covers(slots), err
	})
	if err != nil {
		return err
	}
	return e.until(ctx, primary, "replicates "+h.Replica.Pod, func(ctx context.Context) (bool, error) {
		now, err := e.nodes(ctx, primary)
		return err == nil && now.Own().Replica && now.Own().Primary == h.Replica.ID, err
	})
}

// follows is what a replica says of itself, which must be the primary that is meant. When it
// is the primary already somebody else was faster, and nothing is left to do.
func (e Env) follows(ctx context.Context, replica peer, h plan.Promotion) (node.Entry, error) {
	now, err := e.nodes(ctx, replica)
	if err != nil {
		return node.Entry{}, err
	}
	own := now.Own()
	switch {
	case !own.Replica && len(own.Slots) == 0:
		return own, &RacedError{Pod: h.Replica.Pod, What: "is no replica any more"}
	case own.Replica && own.Primary != h.Primary.ID:
		return own, &RacedError{Pod: h.Replica.Pod, What: "has another primary by now"}
	}
	return own, nil
}

// replace puts a replica in the place of a dead primary, once more making sure that it is:
// no pod that may be it answers, and the replica has no link to it.
func (e Env) replace(ctx context.Context, s plan.Promote, h plan.Promotion) error {
	replica, err := e.peer(ctx, h.Replica)
	if err != nil {
		return err
	}
	own, err := e.follows(ctx, replica, h)
	if err != nil || !own.Replica {
		return err
	}
	for _, pod := range h.Away {
		if err := e.silent(ctx, pod); err != nil {
			return err
		}
	}
	now, err := e.nodes(ctx, replica)
	if err != nil {
		return err
	}
	dead, known := now.Sees(h.Primary.ID)
	if !known || !dead.Failed && !dead.Suspected && dead.Linked {
		return &RacedError{Pod: h.Replica.Pod, What: "reaches its primary"}
	}
	mode := "FORCE"
	if s.How == plan.Takeover {
		mode = "TAKEOVER"
		if err := e.voteless(ctx, s, h, replica, now); err != nil {
			return err
		}
	}
	if err := e.do(ctx, replica, "CLUSTER", "FAILOVER", mode); err != nil {
		return err
	}
	return e.until(ctx, replica, "took over from "+h.Primary.ID, func(ctx context.Context) (bool, error) {
		now, err := e.nodes(ctx, replica)
		return err == nil && !now.Own().Replica && now.Own().Slots.Covers(dead.Slots), err
	})
}

// voteless fails unless a replica may take a dead primary's place without votes: there is no
// majority, or nothing that two could own and no key that would get lost.
func (e Env) voteless(ctx context.Context, s plan.Promote, h plan.Promotion, replica peer, now survey.Answer) error {
	if !s.Slotless {
		lost, err := e.lostMajority(ctx, replica, now.Nodes)
		if err != nil || !lost {
			return errors.Join(err, &RacedError{Pod: h.Replica.Pod, What: "sees a majority of primaries again"})
		}
		return nil
	}
	if dead, _ := now.Sees(h.Primary.ID); len(dead.Slots) > 0 {
		return &RacedError{Pod: h.Replica.Pod, What: "has a primary with slots by now"}
	}
	for _, c := range h.Copies {
		if err := e.copies(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// lostMajority is whether a node sees fewer than half of the slots' owners alive, or half.
func (e Env) lostMajority(ctx context.Context, p peer, nodes []node.Entry) (bool, error) {
	text, err := node.Ask(ctx, p.conn, "CLUSTER", "INFO").Text()
	if err != nil {
		e.drop(p, err)
		return false, fmt.Errorf("pod %s: CLUSTER INFO: %w", p.ref.Pod, err)
	}
	owners := slices.DeleteFunc(slices.Clone(nodes), func(n node.Entry) bool { return len(n.Slots) == 0 })
	alive := 0
	for _, n := range owners {
		if n.Alive() {
			alive++
		}
	}
	return node.ParseInfo(text)["cluster_state"] == "fail" && alive <= len(owners)/2, nil
}
