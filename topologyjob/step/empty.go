// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package step

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/plan"
)

// StrandedError says that a node that owns no slot has keys that the owners of their slots
// do not have, or that this could not be found out in time. Nothing was deleted.
type StrandedError struct {
	Pod string
	// ID is the node's.
	ID string
	// What follows the pod in a sentence.
	What string
}

func (e *StrandedError) Error() string { return "pod " + e.Pod + ": " + e.What }

// emptyTime is how long keys are compared. A million takes about 15 s.
const emptyTime = time.Minute

// empty deletes the keys of a primary that owns no slot, once each was seen at the owner of
// its slot. Whether the values are equal is neither asked nor could it be: such a primary
// sends whoever asks for a value to the owner. What the owner has is what clients read and
// write since the slot is its, by a vote of the servers or because it was moved there, and
// servers themselves delete the other when they are told in one piece, or start again. A key
// that the owner does not have may have been deleted there since, or be the last one.
func (e Env) empty(ctx context.Context, s plan.Empty) error {
	_, databases, err := e.vacant(ctx, s.Ref)
	if err != nil || len(databases) == 0 {
		return err
	}
	seen, err := e.elsewhere(ctx, s, databases)
	if err != nil {
		return err
	}
	p, now, err := e.vacant(ctx, s.Ref)
	if err != nil {
		return err
	}
	for database, keys := range now {
		if keys > seen[database] {
			return &RacedError{Pod: s.Pod, What: fmt.Sprintf("has more keys in database %d by now", database)}
		}
	}
	if err := e.do(ctx, p, "FLUSHALL", "ASYNC"); err != nil {
		return err
	}
	return e.until(ctx, p, "has no keys", func(ctx context.Context) (bool, error) {
		keys, err := e.keys(ctx, p)
		return err == nil && keys == 0, err
	})
}

// elsewhere fails unless the owners of their slots have all keys of a node. It returns how many
// were compared, by database.
func (e Env) elsewhere(ctx context.Context, s plan.Empty, databases map[int]int64) (map[int]int64, error) {
	c, err := e.compare(ctx, s, databases)
	switch {
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
		return nil, &StrandedError{Pod: s.Pod, ID: s.ID, What: fmt.Sprintf("holds %d keys and owns no slot; they are more than can be compared with their owners in %s", total(databases), emptyTime)}
	case err != nil:
		return nil, err
	case len(c.missing) > 0:
		return nil, &StrandedError{Pod: s.Pod, ID: s.ID, What: c.String()}
	}
	return c.seen, nil
}

// copies fails unless the owners of their slots have all keys of a replica, to which nobody
// writes while its primary is dead.
func (e Env) copies(ctx context.Context, s plan.Empty) error {
	p, now, err := e.look(ctx, s.Ref)
	switch {
	case err != nil:
		return err
	case !now.Own().Replica:
		return &RacedError{Pod: s.Pod, What: "is no replica any more"}
	case len(now.Own().Open) > 0:
		return &RacedError{Pod: s.Pod, What: "has open slots by now"}
	}
	databases, err := e.databases(ctx, p)
	if err != nil || len(databases) == 0 {
		return err
	}
	_, err = e.elsewhere(ctx, s, databases)
	return err
}

// databases are the numbers of keys of a peer by database.
func (e Env) databases(ctx context.Context, p peer) (map[int]int64, error) {
	text, err := node.Ask(ctx, p.conn, "INFO", "keyspace").Text()
	if err != nil {
		e.drop(p, err)
		return nil, fmt.Errorf("pod %s: INFO: %w", p.ref.Pod, err)
	}
	return node.ParseInfo(text).Databases()
}

// vacant is a node that must be a primary without slots and without open ones, so that no
// client can write to it, and the number of its keys by database.
func (e Env) vacant(ctx context.Context, ref plan.Ref) (peer, map[int]int64, error) {
	p, now, err := e.look(ctx, ref)
	if err != nil {
		return peer{}, nil, err
	}
	switch own := now.Own(); {
	case own.Replica:
		return peer{}, nil, &RacedError{Pod: ref.Pod, What: "is a replica by now"}
	case len(own.Slots) > 0:
		return peer{}, nil, &RacedError{Pod: ref.Pod, What: "owns slots by now"}
	case len(own.Open) > 0:
		return peer{}, nil, &RacedError{Pod: ref.Pod, What: "has open slots by now"}
	}
	databases, err := e.databases(ctx, p)
	return p, databases, err
}

func total(databases map[int]int64) int64 {
	n := int64(0)
	for _, keys := range databases {
		n += keys
	}
	return n
}
