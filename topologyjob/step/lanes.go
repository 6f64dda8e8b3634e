// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package step

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/plan"
)

// lanes are a primary with connections for SETSLOT. The server answers that only when all
// replicas have it, and reads nothing more from the connection until then; side by side, many
// take as long as one.
type lanes struct {
	peer
	conns []node.Conn
}

const mostLanes = 16

// lanePatience is longer than the SETSLOTs of one lane take when no replica answers, for each of
// which a server waits 2 s.
const lanePatience = (batchSlots/mostLanes + 1) * 2 * time.Second

// open connects to a primary.
func (t *transfer) open(ctx context.Context, ref plan.Ref) (*lanes, error) {
	p, _, err := t.primary(ctx, ref)
	if err != nil {
		return nil, err
	}
	return &lanes{peer: p}, nil
}

// end closes all lanes.
func (t *transfer) end() {
	for _, l := range []*lanes{t.from, t.to} {
		if l == nil {
			continue
		}
		for _, conn := range l.conns {
			conn.Close()
		}
	}
}

// widen makes so many lanes. Each must lead to the node that is meant.
func (t *transfer) widen(ctx context.Context, l *lanes, n int) error {
	if n <= len(l.conns) {
		return nil
	}
	more := make([]node.Conn, n-len(l.conns))
	numbers := make([]int, len(more))
	for i := range numbers {
		numbers[i] = i
	}
	// A MIGRATE waits for its target when it connects, and for the answer.
	ctx = node.WithPatience(ctx, max(lanePatience, time.Duration(3*t.timeout)*time.Millisecond))
	err := each(numbers, func(i int) error {
		conn, err := t.Pool.Dial(ctx, l.address)
		if err != nil {
			return fmt.Errorf("pod %s: %w", l.ref.Pod, err)
		}
		more[i] = conn
		id, err := node.Ask(ctx, conn, "CLUSTER", "MYID").Text()
		if err != nil {
			return fmt.Errorf("pod %s: CLUSTER MYID: %w", l.ref.Pod, err)
		}
		if id != l.ref.ID {
			return &RacedError{Pod: l.ref.Pod, What: "is now another node"}
		}
		return nil
	})
	for _, conn := range more {
		if conn != nil {
			l.conns = append(l.conns, conn)
		}
	}
	return err
}

// setslot sends one CLUSTER SETSLOT for each slot.
func (t *transfer) setslot(ctx context.Context, l *lanes, slots []int, how, id string) error {
	n := min(len(slots), mostLanes)
	if err := t.widen(ctx, l, n); err != nil {
		return err
	}
	numbers := make([]int, n)
	for i := range numbers {
		numbers[i] = i
	}
	return each(numbers, func(i int) error {
		var commands []node.Command
		for j := i; j < len(slots); j += n {
			commands = append(commands, node.Cmd("CLUSTER", "SETSLOT", strconv.Itoa(slots[j]), how, id))
		}
		for j, r := range l.conns[i].Do(ctx, commands...) {
			if r.Err != nil {
				return fmt.Errorf("pod %s: %s: %w", l.ref.Pod, commands[j], r.Err)
			}
		}
		return nil
	})
}
