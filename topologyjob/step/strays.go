// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package step

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/slot"
)

const (
	// mostStrays is how many keys of one slot are compared.
	mostStrays = 10_000
	// ridKeys is how many are deleted at once.
	ridKeys = 64
	// unmarkTime is longer than the 2 s for which a server waits for its replicas to have a
	// SETSLOT.
	unmarkTime = 4 * time.Second
)

// rid deletes what the target of a move holds of slots that it does not own, where the source,
// which owns them and has not opened them, has all of it. It returns the slots of which the
// target still holds something, which it must not get: keys would come back to life that were
// deleted, and a 9.1 server crashes that is to take a slot of which it has keys.
//
// Such a target was a replica when its primary got the slot, and took that one's place before
// anybody had heard of it. Whoever asks it for such keys is sent to the owner, so that what the
// owner has is what clients read and write, and the others are old copies: see empty. A key that
// the owner does not have may have been deleted there since, or be the last one.
func (e Env) rid(ctx context.Context, from, to peer, slots []int) ([]int, error) {
	databases, err := e.databases(ctx, to)
	if err != nil {
		return nil, err
	}
	var left []int
	for _, database := range slices.Sorted(maps.Keys(databases)) {
		some, err := e.ridIn(ctx, from, to, database, slots)
		if err != nil {
			return nil, err
		}
		left = append(left, some...)
	}
	slices.Sort(left)
	return slices.Compact(left), nil
}

// ridIn is rid for one database, which servers count the keys of by themselves.
func (e Env) ridIn(ctx context.Context, from, to peer, database int, slots []int) ([]int, error) {
	if database != 0 {
		for _, p := range []*peer{&from, &to} {
			conn, err := e.selected(ctx, *p, database)
			if err != nil {
				return nil, err
			}
			defer conn.Close()
			p.conn = conn
		}
	}
	counts, err := e.keysIn(ctx, to, slots)
	if err != nil {
		return nil, err
	}
	var left []int
	for i, n := range slots {
		if counts[i] == 0 {
			continue
		}
		old := counts[i] <= mostStrays
		if old {
			if old, err = e.ridOf(ctx, from, to, n); err != nil {
				return nil, err
			}
		}
		if !old {
			left = append(left, n)
		}
	}
	return left, nil
}

// selected is a connection to a peer of its own on which a database is selected.
func (e Env) selected(ctx context.Context, p peer, database int) (node.Conn, error) {
	conn, err := e.Pool.Dial(ctx, p.address)
	if err != nil {
		return nil, fmt.Errorf("pod %s: %w", p.ref.Pod, err)
	}
	replies := conn.Do(ctx, node.Cmd("CLUSTER", "MYID"), node.Cmd("SELECT", strconv.Itoa(database)))
	if err = node.FirstError(replies); err == nil && replies[0].Value != p.ref.ID {
		err = &RacedError{Pod: p.ref.Pod, What: "is now another node"}
	}
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("pod %s: SELECT %d: %w", p.ref.Pod, database, err)
	}
	return conn, nil
}

// haunted is that a target cannot get slots.
func haunted(from, to peer, slots slot.Ranges) error {
	if slots.Count() == 0 {
		return nil
	}
	return &MoveError{Pod: from.ref.Pod, Slots: slots, Message: "pod " + to.ref.Pod + " holds keys of them which their owner does not have"}
}

// ridOf is rid for one slot and one database, and reports whether nothing is left of it. Nothing
// is deleted unless the source has all.
func (e Env) ridOf(ctx context.Context, from, to peer, n int) (bool, error) {
	keys, err := e.named(ctx, to, []int{n}, mostStrays)
	if err != nil {
		return false, err
	}
	if has, err := e.hasAll(ctx, from, keys[n]); err != nil || !has {
		return false, err
	}
	for some := range slices.Chunk(keys[n], ridKeys) {
		if err := e.delete(ctx, from, to, n, some); err != nil {
			return false, err
		}
	}
	left, err := e.keysIn(ctx, to, []int{n})
	return err == nil && left[0] == 0, err
}

// hasAll is whether a peer has all of some keys, of slots that it owns.
func (e Env) hasAll(ctx context.Context, p peer, keys []string) (bool, error) {
	commands := make([]node.Command, len(keys))
	for i, key := range keys {
		commands[i] = node.Cmd("EXISTS", key)
	}
	for _, reply := range p.conn.Do(ctx, commands...) {
		found, err := reply.Int()
		if err != nil {
			e.drop(p, err)
			return false, fmt.Errorf("pod %s: EXISTS: %w", p.ref.Pod, err)
		}
		if found == 0 {
			return false, nil
		}
	}
	return true, nil
}

// delete deletes keys of a slot that a peer does not own. The peer takes commands about them
// while it imports the slot; the source sends nobody there. A peer that owns the slot by now
// refuses to import it, and must be sent nothing else: it would delete what it serves. A mark that
// stays would have the next run take the slot for one whose move was interrupted, and finish that.
// So it goes in one pipeline with the keys, which a server does to the end whatever becomes of its
// client, and once more after an error.
func (e Env) delete(ctx context.Context, from, to peer, n int, keys []string) error {
	now, err := e.nodes(ctx, to)
	if err != nil {
		return err
	}
	switch own := now.Own(); {
	case own.Replica:
		return &RacedError{Pod: to.ref.Pod, What: "is a replica by now"}
	case own.Slots.Contains(n):
		// It would delete what it serves.
		return &RacedError{Pod: to.ref.Pod, What: fmt.Sprintf("owns slot %d by now", n)}
	case own.Opens(n):
		return &RacedError{Pod: to.ref.Pod, What: fmt.Sprintf("has opened slot %d by now", n)}
	}
	number := strconv.Itoa(n)
	err = node.Ask(ctx, to.conn, "CLUSTER", "SETSLOT", number, "IMPORTING", from.ref.ID).Err
	if _, refused := errors.AsType[*node.RefusedError](err); refused {
		return fmt.Errorf("pod %s: CLUSTER SETSLOT %d IMPORTING: %w", to.ref.Pod, n, err)
	}
	if err == nil {
		var commands []node.Command
		for _, key := range keys {
			commands = append(commands, node.Cmd("ASKING"), node.Cmd("DEL", key))
		}
		commands = append(commands, node.Cmd("CLUSTER", "SETSLOT", number, "STABLE"))
		err = node.FirstError(to.conn.Do(ctx, commands...))
	}
	if err != nil {
		e.drop(to, err)
		return errors.Join(fmt.Errorf("pod %s: DEL of old copies in slot %d: %w", to.ref.Pod, n, err), e.unmark(ctx, to, n))
	}
	return nil
}

// unmark takes the mark of a slot from a peer, on a connection of its own, also when the context
// is over.
func (e Env) unmark(ctx context.Context, p peer, n int) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), unmarkTime)
	defer cancel()
	conn, err := e.Pool.Dial(ctx, p.address)
	if err != nil {
		return fmt.Errorf("pod %s: %w", p.ref.Pod, err)
	}
	defer conn.Close()
	id, err := node.Ask(ctx, conn, "CLUSTER", "MYID").Text()
	if err == nil && id != p.ref.ID {
		err = &RacedError{Pod: p.ref.Pod, What: "is now another node"}
	}
	if err == nil {
		err = node.Ask(ctx, conn, "CLUSTER", "SETSLOT", strconv.Itoa(n), "STABLE").Err
	}
	if err != nil {
		return fmt.Errorf("pod %s: CLUSTER SETSLOT %d STABLE: %w", p.ref.Pod, n, err)
	}
	return nil
}
