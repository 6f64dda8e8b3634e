// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package step

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/valkey-render/valkey-render/topologyjob/node"
)

// A server serves nobody else while it runs a pipeline of one client, so as many MIGRATEs
// are sent at once as take about pipelineTime.
const (
	pipelineTime  = 40 * time.Millisecond
	firstPipeline = 4
	mostPipeline  = 16
	mostKeys      = 64 // of one MIGRATE
)

// keysOf moves the keys of open slots, until there are none. Slots that cannot be emptied
// are a MoveError, and the others are moved.
func (t *transfer) keysOf(ctx context.Context, slots []int) error {
	var stuck []int
	var why []string
	for left := slices.Clone(slots); len(left) > 0; {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		now := slices.Clone(left[:min(len(left), t.pipeline)])
		keys, err := t.named(ctx, t.from.peer, now, mostKeys)
		if err != nil {
			return err
		}
		empty := map[int]bool{}
		for _, n := range now {
			empty[n] = len(keys[n]) == 0
		}
		isEmpty := func(n int) bool { return empty[n] }
		now, left = slices.DeleteFunc(now, isEmpty), slices.DeleteFunc(left, isEmpty)
		passwords := len(t.login.Passwords)
		for i, err := range t.send(ctx, now, keys) {
			n := now[i]
			if err == nil {
				t.tell(0, int64(len(keys[n])), t.size)
				continue
			}
			if passwordRefused(err) && t.nextPassword(passwords) {
				continue
			}
			if err = t.oneByOne(ctx, n, keys[n], err); err == nil {
				continue
			}
			var refused *node.RefusedError
			if !errors.As(err, &refused) && !errors.Is(err, errDiffers) || halfway(err) {
				// Not of this slot alone.
				t.drop(t.from.peer, err)
				return fmt.Errorf("pod %s: MIGRATE of slot %d: %w", t.from.ref.Pod, n, err)
			}
			stuck, why = append(stuck, n), append(why, err.Error())
			left = slices.DeleteFunc(left, func(m int) bool { return m == n })
		}
	}
	if len(stuck) == 0 {
		return nil
	}
	slices.Sort(why)
	return &MoveError{Pod: t.from.ref.Pod, Slots: set(stuck), Message: strings.Join(slices.Compact(why), "; ")}
}

// send moves keys, one MIGRATE for each slot, and sees how long that takes.
func (t *transfer) send(ctx context.Context, slots []int, keys map[int][]string) []error {
	if len(slots) == 0 {
		return nil
	}
	commands := make([]node.Command, len(slots))
	for i, n := range slots {
		// A target that hangs makes the source wait for each of them.
		commands[i] = t.migrate(false, t.timeout/int64(len(slots)), keys[n]...)
	}
	began := t.Now()
	replies := t.from.conn.Do(ctx, commands...)
	switch took := t.Now().Sub(began); {
	case took > pipelineTime:
		t.pipeline = max(t.pipeline/2, 1)
	case took < pipelineTime/2:
		t.pipeline = min(2*t.pipeline, mostPipeline)
	}
	errs := make([]error, len(slots))
	for i, r := range replies {
		errs[i] = r.Err
	}
	return errs
}

// named are some keys of each slot that a peer holds.
func (e Env) named(ctx context.Context, p peer, slots []int, most int) (map[int][]string, error) {
	commands := make([]node.Command, len(slots))
	for i, n := range slots {
		commands[i] = node.Cmd("CLUSTER", "GETKEYSINSLOT", strconv.Itoa(n), strconv.Itoa(most))
	}
	keys := map[int][]string{}
	for i, r := range p.conn.Do(ctx, commands...) {
		if r.Err != nil {
			e.drop(p, r.Err)
			return nil, fmt.Errorf("pod %s: %s: %w", p.ref.Pod, commands[i], r.Err)
		}
		list, ok := r.Value.([]any)
		if !ok {
			return nil, fmt.Errorf("pod %s: %s: reply %T is no list", p.ref.Pod, commands[i], r.Value)
		}
		for _, key := range list {
			text, ok := key.(string)
			if !ok {
				return nil, fmt.Errorf("pod %s: %s: %T is no key", p.ref.Pod, commands[i], key)
			}
			keys[slots[i]] = append(keys[slots[i]], text)
		}
	}
	return keys, nil
}

// migrate is the command that moves keys of one slot.
func (t *transfer) migrate(replace bool, timeout int64, keys ...string) node.Command {
	words := node.Cmd("MIGRATE", t.to.address.IP, strconv.Itoa(t.to.address.Port), "", "0", strconv.FormatInt(timeout, 10))
	if replace {
		words = append(words, "REPLACE")
	}
	if t.login.User != "" && len(t.login.Passwords) > 0 {
		words = append(words, "AUTH2", t.login.User, t.login.Passwords[0])
	}
	return append(append(words, "KEYS"), keys...)
}

// oneByOne moves keys of a slot for which one MIGRATE for all ended with an error: some of
// them may have moved, some may be on both sides.
func (t *transfer) oneByOne(ctx context.Context, n int, keys []string, err error) error {
	if !busy(err) && !halfway(err) {
		return err
	}
	for _, key := range keys {
		err := node.Ask(ctx, t.from.conn, t.migrate(false, t.timeout, key)...).Err
		if busy(err) {
			err = t.both(ctx, n, key)
		}
		if err != nil {
			return err
		}
		t.tell(0, 1, t.size)
	}
	return nil
}

func busy(err error) bool { return err != nil && strings.Contains(err.Error(), "BUSYKEY") }

// halfway reports whether the source lost the target in the middle of a MIGRATE.
func halfway(err error) bool {
	var refused *node.RefusedError
	return errors.As(err, &refused) && refused.Code() == "IOERR"
}

// nextPassword gives up a password that a target refused when there were so many left: in a
// rotation it may know only the next one. It reports whether there is one to try.
func (t *transfer) nextPassword(left int) bool {
	if len(t.login.Passwords) < left {
		return true
	}
	if left > 1 {
		t.login.Passwords = t.login.Passwords[1:]
	}
	return left > 1
}

func passwordRefused(err error) bool {
	return strings.Contains(err.Error(), "WRONGPASS") || strings.Contains(err.Error(), "NOAUTH")
}

// errDiffers is that a key has two values and it cannot be told which is newer.
var errDiffers = errors.New("a key has different values on both sides, and which is newer cannot be told; none is overwritten")

// both settles a key that both sides have. The source's is newer as long as the source has
// lived on since this transfer opened the slot: it was copied and not deleted there, and
// whoever writes a key that the source has is served by the source. A source that restarted
// or was promoted may have got back a key that it had given away, and the target's may be
// newer by then. Equal ones are copies of one value, whoever has it.
func (t *transfer) both(ctx context.Context, n int, key string) error {
	life, err := t.lifeOf(ctx)
	if err != nil {
		return err
	}
	if !t.fresh[n] || life != t.life {
		equal, err := t.equal(ctx, key)
		if err != nil {
			return err
		}
		if !equal {
			return errDiffers
		}
	}
	return node.Ask(ctx, t.from.conn, t.migrate(true, t.timeout, key)...).Err
}

// equal compares a key of both sides, with the time that is left to it, which a MIGRATE
// lengthens by as long as it takes. A key that the source has no more is equal to any.
func (t *transfer) equal(ctx context.Context, key string) (bool, error) {
	var values [2]string
	var found [2]bool
	var left [2]int64
	for i, p := range []peer{t.from.peer, t.to.peer} {
		// The target answers for a slot that it imports only to who asks with ASKING.
		replies := p.conn.Do(ctx, node.Cmd("ASKING"), node.Cmd("DUMP", key), node.Cmd("ASKING"), node.Cmd("PTTL", key))
		err := node.FirstError(replies)
		if found[i] = replies[1].Value != nil; err == nil && found[i] {
			values[i], err = replies[1].Text()
		}
		if err == nil {
			left[i], err = replies[3].Int()
		}
		if err != nil {
			t.drop(p, err)
			return false, fmt.Errorf("pod %s: %w", p.ref.Pod, err)
		}
	}
	if !found[0] {
		return true, nil
	}
	forever := left[0] < 0 || left[1] < 0
	return found[1] && values[0] == values[1] && (!forever && max(left[0]-left[1], left[1]-left[0]) <= t.timeout || left[0] == left[1]), nil
}
