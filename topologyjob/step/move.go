// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package step

import (
	"context"
	"fmt"
	"strconv"

	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/plan"
	"github.com/valkey-render/valkey-render/topologyjob/slot"
)

// Progress is what has moved.
type Progress struct {
	Slots int
	Keys  int64
	// Bytes is what the keys take in memory, as far as that can be told: their number times
	// the average of their source.
	Bytes int64
}

// MoveError says that a server did not move slots. Nothing is lost: they are where they
// were, or, key by key, on both sides of an open slot.
type MoveError struct {
	// Pod is the source's.
	Pod   string
	Slots slot.Ranges
	// Message is the server's.
	Message string
}

func (e *MoveError) Error() string {
	return fmt.Sprintf("pod %s: slots %s were not moved: %s", e.Pod, e.Slots, e.Message)
}

// move moves slots, of several sources at once.
func (e Env) move(ctx context.Context, s plan.MoveSlots) error {
	var sources []plan.Ref
	bySource := map[plan.Ref][]plan.Move{}
	for _, m := range s.Moves {
		if bySource[m.From] == nil {
			sources = append(sources, m.From)
		}
		bySource[m.From] = append(bySource[m.From], m)
	}
	return each(sources, func(source plan.Ref) error {
		if s.Atomic {
			return e.moveAtomically(ctx, source, bySource[source])
		}
		for _, m := range bySource[source] {
			if err := e.moveByKey(ctx, s, m); err != nil {
				return err
			}
		}
		return nil
	})
}

// primary is a peer that is a primary at this moment. The ID of a replica would be taken,
// and the migration would fail later.
func (e Env) primary(ctx context.Context, ref plan.Ref) (peer, node.Entry, error) {
	p, now, err := e.look(ctx, ref)
	if err != nil {
		return peer{}, node.Entry{}, err
	}
	own := now.Own()
	if own.Replica {
		return peer{}, node.Entry{}, &RacedError{Pod: ref.Pod, What: "is a replica by now"}
	}
	return p, own, nil
}

// keysIn counts the keys of slots, in their order.
func (e Env) keysIn(ctx context.Context, p peer, slots []int) ([]int64, error) {
	if len(slots) == 0 {
		return nil, nil
	}
	commands := make([]node.Command, len(slots))
	for i, n := range slots {
		commands[i] = node.Cmd("CLUSTER", "COUNTKEYSINSLOT", strconv.Itoa(n))
	}
	counts := make([]int64, len(slots))
	replies := p.conn.Do(ctx, commands...)
	for i, r := range replies {
		n, err := r.Int()
		if err != nil {
			e.drop(p, err)
			return nil, fmt.Errorf("pod %s: %s: %w", p.ref.Pod, commands[i], err)
		}
		counts[i] = n
	}
	return counts, nil
}

// keySize is how many bytes of memory a key of a peer takes on average, 0 if it cannot be
// told: a server without much data may say that it has less than none.
func (e Env) keySize(ctx context.Context, p peer) (int64, error) {
	text, err := node.Ask(ctx, p.conn, "INFO", "memory", "keyspace").Text()
	if err != nil {
		e.drop(p, err)
		return 0, fmt.Errorf("pod %s: INFO: %w", p.ref.Pod, err)
	}
	info := node.ParseInfo(text)
	keys, err := info.Keys()
	if err != nil || keys == 0 {
		return 0, err
	}
	if bytes, err := strconv.ParseInt(info["used_memory_dataset"], 10, 64); err == nil && bytes > 0 {
		return bytes / keys, nil
	}
	return 0, nil
}

// tell reports progress.
func (e Env) tell(slots int, keys, keySize int64) {
	if e.OnProgress != nil && (slots != 0 || keys != 0) {
		e.OnProgress(Progress{Slots: slots, Keys: keys, Bytes: keys * keySize})
	}
}

// list are the slots of a set one by one.
func list(set slot.Ranges) []int {
	numbers := make([]int, 0, set.Count())
	for _, r := range set {
		for n := r.First; n <= r.Last; n++ {
			numbers = append(numbers, n)
		}
	}
	return numbers
}

// set is the set of slots.
func set(numbers []int) slot.Ranges {
	ranges := make([]slot.Range, len(numbers))
	for i, n := range numbers {
		ranges[i] = slot.Range{First: n, Last: n}
	}
	return slot.Of(ranges...)
}

func sum(counts []int64) int64 {
	n := int64(0)
	for _, c := range counts {
		n += c
	}
	return n
}
