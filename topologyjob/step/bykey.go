// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package step

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/plan"
	"github.com/valkey-render/valkey-render/topologyjob/slot"
)

// Slots are opened and closed some at a time, fewer when they have many keys: a slot that is
// open refuses commands with several keys of which one has moved.
const (
	batchSlots = 64
	batchKeys  = 4096
)

// transfer is the move of slots between two primaries, key by key. It begins with whatever
// an interrupted one has left behind, on whichever side.
type transfer struct {
	Env
	from, to *lanes
	login    node.Login
	// pipeline is how many MIGRATEs are sent at once.
	pipeline int
	// timeout is for how many milliseconds MIGRATEs may keep the source from all else: with
	// cluster-node-timeout it would be taken for dead.
	timeout int64
	size    int64
	// life is the source's process and history. While it is the same, and for slots that
	// this transfer has opened, a key that the source has is newer than what is at the
	// target: a key that is still at the source is written there.
	life  string
	fresh map[int]bool
}

func (e Env) moveByKey(ctx context.Context, s plan.MoveSlots, m plan.Move) error {
	t := transfer{Env: e, fresh: map[int]bool{}, timeout: max(s.Timeout/2, 500), pipeline: firstPipeline}
	defer t.end()
	if err := t.begin(ctx, m); err != nil {
		return err
	}
	if err := t.numbered(ctx, m.Slots); err != nil {
		return err
	}
	var failed error
	for slots := list(m.Slots); len(slots) > 0; {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		n, err := t.few(ctx, slots)
		if err != nil {
			return errors.Join(failed, err)
		}
		err = t.batch(ctx, slots[:n])
		var some *MoveError
		if err != nil && !errors.As(err, &some) {
			return errors.Join(failed, err)
		}
		// What is wrong with some slots keeps no others.
		failed = errors.Join(failed, err)
		slots = slots[n:]
	}
	return failed
}

// begin connects to both sides.
func (t *transfer) begin(ctx context.Context, m plan.Move) error {
	var err error
	if t.Login != nil {
		if t.login, err = t.Login(); err != nil {
			return err
		}
	}
	if t.from, err = t.open(ctx, m.From); err != nil {
		return err
	}
	if t.to, err = t.open(ctx, m.To); err != nil {
		return err
	}
	// MIGRATE takes longer than is waited for an answer on connections that everybody uses.
	if err = t.widen(ctx, t.from, 1); err != nil {
		return err
	}
	t.from.conn = t.from.conns[0]
	if t.size, err = t.keySize(ctx, t.from.peer); err != nil {
		return err
	}
	t.life, err = t.lifeOf(ctx)
	return err
}

// numbered is that slots cannot move since the source, of 9.0 or later, has keys in another
// database than 0. Keys are counted, named and migrated in one, and a source that hears of a new
// owner deletes what it has in the others. What is in slots that stay is not told apart.
func (t *transfer) numbered(ctx context.Context, slots slot.Ranges) error {
	databases, err := t.databases(ctx, t.from.peer)
	if err != nil {
		return err
	}
	for _, database := range slices.Sorted(maps.Keys(databases)) {
		if keys := databases[database]; database != 0 && keys > 0 {
			return &MoveError{Pod: t.from.ref.Pod, Slots: slots, Message: fmt.Sprintf(
				"it has %d keys in database %d, and a move key by key would take along only those in database 0", keys, database)}
		}
	}
	return nil
}

// few is how many of the first slots make a batch.
func (t *transfer) few(ctx context.Context, slots []int) (int, error) {
	slots = slots[:min(len(slots), batchSlots)]
	counts, err := t.keysIn(ctx, t.from.peer, slots)
	keys := int64(0)
	for i, n := range counts {
		if keys += n; keys > batchKeys {
			return i + 1, nil
		}
	}
	return len(slots), err
}

// batch moves some slots. A MoveError tells which of them it did not.
func (t *transfer) batch(ctx context.Context, slots []int) error {
	left, gone, err := t.sort(ctx, slots)
	if err != nil {
		return err
	}
	left, failed := t.begun(ctx, left)
	var some *MoveError
	if failed != nil && !errors.As(failed, &some) {
		return failed
	}
	if err := t.keysOf(ctx, left); err != nil {
		if !errors.As(err, &some) {
			return err
		}
		failed = errors.Join(failed, err)
		left = slices.DeleteFunc(left, some.Slots.Contains)
	}
	// The target takes over first. It answers from then on, and raises its epoch, so that
	// everybody believes it, the source too.
	if err := t.own(ctx, left); err != nil {
		return errors.Join(failed, err)
	}
	t.tell(len(left)+len(gone), 0, 0)
	return errors.Join(failed, t.announce(ctx, append(gone, left...)))
}

// sort says which slots are to be moved, and which the target has already and the source
// may not have heard of.
func (t *transfer) sort(ctx context.Context, slots []int) (left, gone []int, err error) {
	from, err := t.nodes(ctx, t.from.peer)
	if err != nil {
		return nil, nil, err
	}
	to, err := t.nodes(ctx, t.to.peer)
	if err != nil {
		return nil, nil, err
	}
	if from.Own().Replica || to.Own().Replica {
		return nil, nil, &RacedError{Pod: t.from.ref.Pod, What: "or " + t.to.ref.Pod + " is a replica by now"}
	}
	opened := map[int]bool{}
	for _, o := range append(from.Own().Open, to.Own().Open...) {
		opened[o.Slot] = true
	}
	for _, n := range slots {
		switch {
		case to.Own().Slots.Contains(n):
			gone = append(gone, n)
		case from.Own().Slots.Contains(n):
			left = append(left, n)
			t.fresh[n] = !opened[n]
		default:
			return nil, nil, &RacedError{Pod: t.from.ref.Pod, What: fmt.Sprintf("does not own slot %d", n)}
		}
	}
	return left, gone, nil
}

// begun opens slots: the target first, so that whoever is sent there is let in. It returns
// those that it opened. A target with keys of a slot that it does not own, and which its owner
// does not have, does not get the slot: they would come back to life.
func (t *transfer) begun(ctx context.Context, slots []int) ([]int, error) {
	fresh := slices.DeleteFunc(slices.Clone(slots), func(n int) bool { return !t.fresh[n] })
	strays, err := t.rid(ctx, t.from.peer, t.to.peer, fresh)
	if err != nil {
		return nil, err
	}
	clean := slices.DeleteFunc(slices.Clone(slots), func(n int) bool { return slices.Contains(strays, n) })
	if err := t.setslot(ctx, t.to, clean, "IMPORTING", t.from.ref.ID); err != nil {
		return nil, err
	}
	if err := t.setslot(ctx, t.from, clean, "MIGRATING", t.to.ref.ID); err != nil {
		return nil, err
	}
	return clean, haunted(t.from.peer, t.to.peer, set(strays))
}

// own makes the target the owner of slots whose keys have all left the source.
func (t *transfer) own(ctx context.Context, slots []int) error {
	left, err := t.keysIn(ctx, t.from.peer, slots)
	if err != nil {
		return err
	}
	if n := sum(left); n > 0 {
		return &RacedError{Pod: t.from.ref.Pod, What: fmt.Sprintf("has %d more keys in slots %s", n, set(slots))}
	}
	if len(slots) == 0 {
		return nil
	}
	if err := t.numbered(ctx, set(slots)); err != nil {
		return err
	}
	if err := t.ahead(ctx); err != nil {
		return err
	}
	return t.setslot(ctx, t.to, slots, "NODE", t.to.ref.ID)
}

// ahead waits until the target knows the source's config epoch and has another one. It takes
// the slots with an epoch one above all that it knows. Were that the source's, of two servers
// with one epoch that with the lower ID takes a higher one, and a source that has not heard of
// the new owner by then would win the slots back, and the target delete their keys.
func (t *transfer) ahead(ctx context.Context) error {
	return t.until(ctx, t.to.peer, "knows the config epoch of "+t.from.ref.Pod, func(ctx context.Context) (bool, error) {
		from, err := t.nodes(ctx, t.from.peer)
		if err != nil {
			return false, err
		}
		to, err := t.nodes(ctx, t.to.peer)
		seen, _ := to.Sees(t.from.ref.ID)
		epoch := from.Own().Epoch
		return err == nil && seen.Epoch == epoch && to.Own().Epoch != epoch, err
	})
}

// announce tells the source, which would hear of it anyway, as all others do: the target
// tells everybody at once. The source refuses as long as it has keys, and deletes them when
// it hears.
func (t *transfer) announce(ctx context.Context, slots []int) error {
	err := t.setslot(ctx, t.from, slots, "NODE", t.to.ref.ID)
	var refused *node.RefusedError
	if errors.As(err, &refused) {
		return nil
	}
	return err
}

// lifeOf is the source's process and history.
func (t *transfer) lifeOf(ctx context.Context) (string, error) {
	text, err := node.Ask(ctx, t.from.conn, "INFO", "server", "replication").Text()
	if err != nil {
		t.drop(t.from.peer, err)
		return "", fmt.Errorf("pod %s: INFO: %w", t.from.ref.Pod, err)
	}
	info := node.ParseInfo(text)
	return strings.Join([]string{info["run_id"], info["role"], info["master_replid"]}, " "), nil
}
