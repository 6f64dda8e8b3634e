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
	"github.com/valkey-render/valkey-render/topologyjob/plan/replication"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// handoverByFailover has a primary stop its writes, wait for a replica and give it its
// place, which is all one command. An OK only says that it began; it ends by itself when the
// replica does not catch up in time, and then nothing has changed. What does not end is
// aborted.
func (e Env) handoverByFailover(ctx context.Context, h replication.Handover) error {
	replica, its, err := e.server(ctx, h.Replica)
	if err != nil {
		return err
	}
	primary, now, err := e.server(ctx, h.Primary)
	if err != nil {
		return err
	}
	to, found := follower(now, its)
	switch {
	case its.Replication.Primary && !now.Replication.Primary:
		return nil // somebody else was faster
	case !now.Replication.Primary:
		return &RacedError{Pod: h.Primary.Pod, What: "is no primary any more"}
	case now.Replication.FailingOver != "":
		return &RacedError{Pod: h.Primary.Pod, What: "is handing over already"}
	case its.Replication.Primary || !its.LinkUp || its.ReplicationID != now.ReplicationID || !found:
		return &RacedError{Pod: h.Replica.Pod, What: "is not in sync any more"}
	}
	limit := strconv.FormatInt((e.Patience * 4 / 5).Milliseconds(), 10)
	if err := e.do(ctx, primary, "FAILOVER", "TO", to.Host, strconv.Itoa(to.Port), "TIMEOUT", limit); err != nil {
		return err
	}
	err = e.until(ctx, primary, h.Replica.Pod+" took over", func(ctx context.Context) (bool, error) {
		now, err := e.now(ctx, primary)
		if err != nil || now.Replication.FailingOver != "" {
			return false, err
		}
		if now.Replication.Primary {
			return false, &UnprovenError{Pod: h.Replica.Pod, What: "caught up with " + h.Primary.Pod + ", which is still the primary and takes writes"}
		}
		its, err := e.now(ctx, replica)
		return err == nil && its.Replication.Primary && its.Names(now.Replication.Follows), err
	})
	if unproven, ok := errors.AsType[*UnprovenError](err); ok {
		return errors.Join(unproven, e.abort(ctx, primary))
	}
	return err
}

// follower is how a primary knows a replica that is in sync.
func follower(primary, replica survey.Answer) (survey.Endpoint, bool) {
	for _, f := range primary.Replication.Replicas {
		if f.State == "online" && replica.Names(f.Endpoint) {
			return f.Endpoint, true
		}
	}
	return survey.Endpoint{}, false
}

// settle sees a FAILOVER to its end, and aborts one that does not end.
func (e Env) settle(ctx context.Context, s replication.Settle) error {
	p, _, err := e.server(ctx, s.Server)
	if err != nil {
		return err
	}
	err = e.until(ctx, p, "ended its FAILOVER", func(ctx context.Context) (bool, error) {
		now, err := e.now(ctx, p)
		return err == nil && now.Replication.FailingOver == "", err
	})
	if _, ok := errors.AsType[*UnprovenError](err); ok {
		return e.abort(ctx, p)
	}
	return err
}

// abort ends a FAILOVER that is under way: the primary is what it was.
func (e Env) abort(ctx context.Context, p peer) error {
	now, err := e.now(ctx, p)
	if err != nil || now.Replication.FailingOver == "" {
		return err
	}
	if err := e.do(ctx, p, "FAILOVER", "ABORT"); err != nil {
		return err
	}
	return e.until(ctx, p, "ended its FAILOVER", func(ctx context.Context) (bool, error) {
		now, err := e.now(ctx, p)
		return err == nil && now.Replication.FailingOver == "", err
	})
}

// pauseOfSentinel is for how long a primary takes no writes while sentinels promote another
// server. When nobody ends it, it ends after they have made the primary a replica, which
// takes them ten seconds.
const pauseOfSentinel = 20 * time.Second

// handoverBySentinel stops the writes, waits until every replica that may be promoted has
// all of them, and has a sentinel promote one. The old primary is made its replica here: on
// their own the sentinels are slow to, and what it acknowledged until then would be lost.
func (e Env) handoverBySentinel(ctx context.Context, h replication.Handover) error {
	primary, now, err := e.server(ctx, h.Primary)
	if err != nil {
		return err
	}
	if !now.Replication.Primary {
		return nil // somebody else was faster
	}
	w, watched, err := e.sentinel(ctx, h.Sentinels[0])
	switch {
	case err != nil:
		return err
	case watched == nil || !now.Names(watched.Endpoint) || watched.Down():
		return &RacedError{Pod: h.Sentinels[0].Pod, What: "does not watch " + h.Primary.Pod + " any more"}
	case watched.Has("failover_in_progress"):
		return &RacedError{Pod: h.Sentinels[0].Pod, What: "is failing over already"}
	}
	begun := false
	if err = e.pause(ctx, primary, pauseOfSentinel); err == nil {
		begun, err = e.beginBySentinel(ctx, h, w)
	} else if !uncertain(err) {
		return err
	}
	if err == nil {
		err = e.endBySentinel(ctx, h, w, now)
	}
	if begun && err != nil {
		// A replica may be promoted by now. So the writes stay stopped until the pause is
		// over: by then the sentinels have made this one a replica.
		return err
	}
	return errors.Join(err, e.unpause(ctx, h.Primary))
}

// beginBySentinel has a sentinel promote a replica, now that writes are stopped. What it
// returns first is whether the sentinels may have begun.
func (e Env) beginBySentinel(ctx context.Context, h replication.Handover, w peer) (bool, error) {
	primary, now, err := e.server(ctx, h.Primary)
	if err != nil {
		return false, err
	}
	if !now.Replication.Primary {
		return false, &RacedError{Pod: h.Primary.Pod, What: "is no primary any more"}
	}
	// All of it takes a part of the pause only, however many replicas are behind.
	limited, cancel := context.WithTimeout(ctx, min(e.Patience, pauseOfSentinel/2))
	defer cancel()
	if err := e.caughtUp(limited, primary, now); err != nil {
		return false, err
	}
	// From here on the sentinels have all of the pause. Had it been over for a moment, the
	// replicas would lack what was written then.
	if err := e.pause(limited, primary, pauseOfSentinel); err != nil {
		return false, err
	}
	switch primary, now, err = e.server(limited, h.Primary); {
	case err != nil:
		return false, err
	case !now.Replication.Primary:
		return false, &RacedError{Pod: h.Primary.Pod, What: "is no primary any more"}
	}
	if err := e.caughtUp(limited, primary, now); err != nil {
		return false, err
	}
	if err := ctx.Err(); err != nil {
		return false, err
	}
	err = e.do(ctx, w, "SENTINEL", "FAILOVER", primaryName)
	refused, _ := errors.AsType[*node.RefusedError](err)
	return refused == nil || refused.Code() == "INPROG", err
}

// endBySentinel waits for the sentinels' choice and makes the old primary its replica.
// Sentinels end the connections of everybody to those whose role they change: what is lost
// that way is asked again.
func (e Env) endBySentinel(ctx context.Context, h replication.Handover, w peer, old survey.Answer) error {
	to, err := e.promoted(ctx, w, old)
	if err != nil {
		return err
	}
	return e.until(ctx, w, h.Primary.Pod+" follows "+to.String(), func(ctx context.Context) (bool, error) {
		p, now, err := e.server(ctx, h.Primary)
		if err != nil {
			return false, onlyRaced(err)
		}
		if !now.Replication.Primary && now.Replication.Follows == to {
			return true, nil
		}
		return false, onlyRaced(e.replicate(ctx, p, to))
	})
}

// onlyRaced leaves out errors that may pass, such as that of a connection that was ended.
func onlyRaced(err error) error {
	if raced, ok := errors.AsType[*RacedError](err); ok {
		return raced
	}
	return nil
}

// caughtUp waits until every replica in sync that may be promoted has all that the primary
// has. The primary's own offset moves on with its pings.
func (e Env) caughtUp(ctx context.Context, p peer, primary survey.Answer) error {
	for pod, planned := range e.answers {
		if !planned.Answered() || !planned.LinkUp || planned.Replication.Priority == 0 {
			continue
		}
		ref := refOf(planned)
		err := e.until(ctx, p, pod+" caught up", func(ctx context.Context) (bool, error) {
			_, its, err := e.server(ctx, ref)
			if err != nil {
				return false, onlyRaced(err)
			}
			return its.ReplicationID == primary.ReplicationID && its.Offset >= primary.Offset, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// promoted waits for the sentinels to name another pod that is a primary, and returns how
// others are told of it.
func (e Env) promoted(ctx context.Context, w peer, old survey.Answer) (survey.Endpoint, error) {
	e.Patience = max(e.Patience, pauseOfSentinel-5*time.Second)
	var to survey.Endpoint
	err := e.until(ctx, w, "promoted a replica", func(ctx context.Context) (bool, error) {
		watched, err := e.watched(ctx, w)
		if err != nil || watched == nil || old.Names(watched.Endpoint) {
			return false, err
		}
		for _, a := range e.answers {
			if a.Answered() && a.Names(watched.Endpoint) {
				_, its, err := e.server(ctx, refOf(a))
				if err != nil {
					return false, onlyRaced(err)
				}
				to = its.Endpoint()
				return its.Replication.Primary, nil
			}
		}
		return false, fmt.Errorf("sentinel %s: names %s, which is none of the pods", w.ref.Pod, watched.Endpoint)
	})
	return to, err
}
