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
	"github.com/valkey-render/valkey-render/topologyjob/slot"
)

// watched is how long a step watches a migration. One that takes longer goes on by itself,
// and the checks see it in the next survey.
const watched = 30 * time.Second

// moveAtomically moves slots of one source to one or more targets with CLUSTER
// MIGRATESLOTS. OK means only that it has begun: what becomes of it is in the log of both
// ends, under a name that is not told.
func (e Env) moveAtomically(ctx context.Context, source plan.Ref, moves []plan.Move) error {
	from, own, err := e.primary(ctx, source)
	if err != nil {
		return err
	}
	words := []string{"CLUSTER", "MIGRATESLOTS"}
	var left []plan.Move
	var targets []peer
	var failed error
	for _, m := range moves {
		to, its, err := e.primary(ctx, m.To)
		if err != nil {
			return err
		}
		m.Slots = m.Slots.Minus(its.Slots)
		if elsewhere := m.Slots.Minus(own.Slots); elsewhere.Count() > 0 {
			return &RacedError{Pod: source.Pod, What: "does not own slots " + elsewhere.String()}
		}
		strays, err := e.rid(ctx, from, to, list(m.Slots))
		if err != nil {
			return err
		}
		failed = errors.Join(failed, haunted(from, to, set(strays)))
		if m.Slots = m.Slots.Minus(set(strays)); len(m.Slots) == 0 {
			continue
		}
		words = append(words, "SLOTSRANGE")
		for _, r := range m.Slots {
			words = append(words, strconv.Itoa(r.First), strconv.Itoa(r.Last))
		}
		words = append(words, "NODE", m.To.ID)
		left, targets = append(left, m), append(targets, to)
	}
	if len(left) == 0 {
		return failed
	}
	w := watch{env: e, from: from, moves: left, before: map[string]bool{}}
	if err := w.begin(ctx); err != nil {
		return errors.Join(failed, err)
	}
	if err := e.do(ctx, from, words...); err != nil {
		return errors.Join(failed, err)
	}
	if err := w.end(ctx); err != nil {
		return errors.Join(failed, err)
	}
	for i, m := range left {
		if !w.succeeded[i] {
			continue
		}
		err := e.until(ctx, targets[i], "owns slots "+m.Slots.String(), func(ctx context.Context) (bool, error) {
			now, err := e.nodes(ctx, targets[i])
			return err == nil && now.Own().Slots.Covers(m.Slots), err
		})
		if err != nil {
			return errors.Join(failed, err)
		}
	}
	return failed
}

// watch follows the migrations that one command began.
type watch struct {
	env    Env
	from   peer
	moves  []plan.Move
	before map[string]bool
	// keys are how many there are of each move, each takes size bytes.
	keys      []int64
	size      int64
	succeeded []bool
}

// begin remembers which migrations there were.
func (w *watch) begin(ctx context.Context) error {
	log, err := w.log(ctx)
	if err != nil {
		return err
	}
	for _, m := range log {
		if !m.Ended() {
			return &RacedError{Pod: w.from.ref.Pod, What: "migrates slots already"}
		}
		w.before[m.Name] = true
	}
	if w.size, err = w.env.keySize(ctx, w.from); err != nil {
		return err
	}
	w.keys, w.succeeded = make([]int64, len(w.moves)), make([]bool, len(w.moves))
	for i, m := range w.moves {
		counts, err := w.env.keysIn(ctx, w.from, list(m.Slots))
		if err != nil {
			return err
		}
		w.keys[i] = sum(counts)
	}
	return nil
}

// log is what the source tells of its migrations.
func (w *watch) log(ctx context.Context) ([]node.Migration, error) {
	reply := node.Ask(ctx, w.from.conn, "CLUSTER", "GETSLOTMIGRATIONS")
	if reply.Err != nil {
		w.env.drop(w.from, reply.Err)
		return nil, fmt.Errorf("pod %s: CLUSTER GETSLOTMIGRATIONS: %w", w.from.ref.Pod, reply.Err)
	}
	return node.ParseMigrations(reply.Value)
}

// end waits until all have ended, or for as long as a step watches. A migration that is no
// longer in the log is not known: plan again.
func (w *watch) end(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, watched)
	defer cancel()
	ended := make([]bool, len(w.moves))
	var failed error
	for pause := firstPoll; ; pause = min(2*pause, lastPoll) {
		log, err := w.log(ctx)
		if err != nil {
			return err
		}
		running := 0
		for i, m := range w.moves {
			if ended[i] {
				continue
			}
			job := w.job(log, m)
			switch {
			case job == nil:
				return &RacedError{Pod: w.from.ref.Pod, What: "does not know the migration of slots " + m.Slots.String()}
			case !job.Ended():
				running++
				continue
			case job.State == "success":
				w.succeeded[i] = true
				w.env.tell(m.Slots.Count(), w.keys[i], w.size)
			default:
				failed = &MoveError{Pod: w.from.ref.Pod, Slots: m.Slots, Message: job.State + ": " + job.Message}
			}
			ended[i] = true
		}
		if running == 0 || w.env.Sleep(ctx, pause) != nil {
			return failed
		}
	}
}

// job is the log's entry of a move that was not there before.
func (w *watch) job(log []node.Migration, m plan.Move) *node.Migration {
	for i := range log {
		job := &log[i]
		if !w.before[job.Name] && !job.Importing && job.Target == m.To.ID && same(job.Slots, m.Slots) {
			return job
		}
	}
	return nil
}

func same(a, b slot.Ranges) bool { return a.Covers(b) && b.Covers(a) }
