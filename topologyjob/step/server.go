// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package step

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/plan"
	"github.com/valkey-render/valkey-render/topologyjob/plan/replication"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// runWithoutSlots does a step of a topology without slots.
func (e Env) runWithoutSlots(ctx context.Context, s plan.Step) error {
	switch s := s.(type) {
	case replication.Elect:
		return e.elect(ctx, s)
	case replication.Attach:
		return each(s.Replicas, func(r plan.Ref) error { return e.follow(ctx, s, r) })
	case replication.Fence:
		return e.fence(ctx, s)
	case replication.Settle:
		return e.settle(ctx, s)
	case replication.Handover:
		if len(s.Sentinels) > 0 {
			return e.handoverBySentinel(ctx, s)
		}
		return e.handoverByFailover(ctx, s)
	case replication.Watch:
		return e.watch(ctx, s)
	case replication.Unwatch:
		return e.unwatch(ctx, s)
	case replication.Reset:
		return e.reset(ctx, s)
	case replication.Prioritize:
		return e.prioritize(ctx, s)
	}
	return fmt.Errorf("step %s: not known", s.Kind())
}

// server connects to a server without slots and asks what it is now: the process that is
// meant, by its run ID.
func (e Env) server(ctx context.Context, ref plan.Ref) (peer, survey.Answer, error) {
	answer := e.answers[ref.Pod]
	if answer == nil {
		return peer{}, survey.Answer{}, fmt.Errorf("pod %s: not in the survey", ref.Pod)
	}
	conn, err := e.Pool.Get(ctx, answer.Address)
	if err != nil {
		return peer{}, survey.Answer{}, fmt.Errorf("pod %s: %w", ref.Pod, err)
	}
	p := peer{ref: ref, address: answer.Address, conn: conn}
	now, err := e.now(ctx, p)
	if err == nil && now.ID != ref.ID {
		err = &RacedError{Pod: ref.Pod, What: "is now another process"}
	}
	return p, now, err
}

// now is what a server without slots says of itself.
func (e Env) now(ctx context.Context, p peer) (survey.Answer, error) {
	text, err := node.Ask(ctx, p.conn, "INFO", "server", "replication", "persistence", "keyspace", "cluster").Text()
	if err != nil {
		e.drop(p, err)
		return survey.Answer{}, fmt.Errorf("pod %s: INFO: %w", p.ref.Pod, err)
	}
	answer := e.answers[p.ref.Pod]
	now := survey.Answer{Pod: answer.Pod, Address: answer.Address}
	if err := now.Read(node.ParseInfo(text)); err != nil {
		return survey.Answer{}, fmt.Errorf("pod %s: %w", p.ref.Pod, err)
	}
	if answer.Replication != nil {
		now.Replication.Announced = answer.Replication.Announced
	}
	return now, nil
}

// quiet stops the writes of a primary, asks it what it is now, and has work done while that
// stays true. Writes that come meanwhile are answered afterwards, by whatever it is then. A
// pause ends by itself when nobody ends it.
func (e Env) quiet(ctx context.Context, p peer, most time.Duration, work func(now survey.Answer) error) error {
	err := e.pause(ctx, p, most)
	if err != nil && !uncertain(err) {
		return err
	}
	if err == nil {
		var now survey.Answer
		if now, err = e.now(ctx, p); err == nil {
			err = work(now)
		}
	}
	// Whatever happened, nobody is served by waiting on.
	if failed := e.unpause(ctx, p.ref); err == nil {
		err = failed
	}
	return err
}

// pause has a server take no writes for a time.
func (e Env) pause(ctx context.Context, p peer, most time.Duration) error {
	return e.do(ctx, p, "CLIENT", "PAUSE", strconv.FormatInt(most.Milliseconds(), 10), "WRITE")
}

// uncertain is whether a server may have done what ended with an error: its answer is what is
// missing.
func uncertain(err error) bool {
	_, refused := errors.AsType[*node.RefusedError](err)
	return !refused
}

// unpauseTime is for how long that is tried once the context is over: a part of what a Job has
// left to it that is told to stop.
const unpauseTime = 2 * time.Second

// unpause lets a server take writes again, or refuse them as the replica that it may be by
// now: also when the context is over, and on another connection when that one has failed.
func (e Env) unpause(ctx context.Context, r plan.Ref) error {
	takes := func(ctx context.Context) (bool, error) {
		p, _, err := e.server(ctx, r)
		if err == nil {
			err = e.do(ctx, p, "CLIENT", "UNPAUSE")
		}
		return err == nil, onlyRaced(err)
	}
	const what = "takes writes again"
	if err := e.until(ctx, peer{ref: r}, what, takes); err == nil || ctx.Err() == nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), unpauseTime)
	defer cancel()
	return e.until(ctx, peer{ref: r}, what, takes)
}

// replicate makes a server follow an endpoint and proves it.
func (e Env) replicate(ctx context.Context, p peer, to survey.Endpoint) error {
	if err := e.do(ctx, p, "REPLICAOF", to.Host, strconv.Itoa(to.Port)); err != nil {
		return err
	}
	return e.until(ctx, p, "follows "+to.String(), func(ctx context.Context) (bool, error) {
		now, err := e.now(ctx, p)
		return err == nil && !now.Replication.Primary && now.Replication.Follows == to, err
	})
}

// prioritize sets replica-priority.
func (e Env) prioritize(ctx context.Context, s replication.Prioritize) error {
	want := strconv.Itoa(s.Priority)
	return each(s.Servers, func(r plan.Ref) error {
		p, _, err := e.server(ctx, r)
		if err != nil {
			return err
		}
		if err := e.do(ctx, p, "CONFIG", "SET", "replica-priority", want); err != nil {
			return err
		}
		reply := node.Ask(ctx, p.conn, "CONFIG", "GET", "replica-priority")
		if reply.Err != nil {
			e.drop(p, reply.Err)
			return fmt.Errorf("pod %s: CONFIG GET replica-priority: %w", r.Pod, reply.Err)
		}
		if node.Pairs(reply.Value)["replica-priority"] != want {
			return &UnprovenError{Pod: r.Pod, What: "has replica-priority " + want}
		}
		return nil
	})
}
