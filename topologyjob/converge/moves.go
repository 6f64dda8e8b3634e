// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package converge

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/valkey-render/valkey-render/topologyjob/plan"
	"github.com/valkey-render/valkey-render/topologyjob/slot"
	"github.com/valkey-render/valkey-render/topologyjob/step"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// MoveFailed: slots could not be moved, several times in a row.
const MoveFailed plan.Reason = "RebalanceFailed"

// mostFailures is how many moves in a row may fail. Between them the pauses double.
const (
	mostFailures = 8
	firstBackoff = 100 * time.Millisecond
	lastBackoff  = 30 * time.Second
)

// Progress is how far moves of slots are.
type Progress struct {
	// Slots are moved of Of that are to be.
	Slots int
	Of    int
	Keys  int64
	// Bytes is what the keys take in memory, about.
	Bytes int64
	// Elapsed is since the first of them, Left how long the rest takes at that rate.
	Elapsed time.Duration
	Left    time.Duration
}

// String is "1024 of 4096 slots, 250000 keys, 40 MiB, 12500 keys/s, 0:42 left".
func (p Progress) String() string {
	text := fmt.Sprintf("%d of %d slots, %d keys, %d MiB", p.Slots, p.Of, p.Keys, p.Bytes>>20)
	if seconds := p.Elapsed.Seconds(); seconds > 0 {
		text += fmt.Sprintf(", %.0f keys/s", float64(p.Keys)/seconds)
	}
	if p.Left > 0 {
		left := int(p.Left.Round(time.Second).Seconds())
		text += fmt.Sprintf(", %d:%02d left", left/60, left%60)
	}
	return text
}

// moves are the moves of slots of a run.
type moves struct {
	clock Clock
	told  func(Progress)
	// failures are moves in a row that failed, since so much had moved.
	failures int
	since    step.Progress
	// running are atomic migrations that were seen in flight, by name.
	running map[string]bool

	mu      sync.Mutex
	started time.Time
	done    step.Progress
	of      int
}

// begin takes over how much there is to move.
func (m *moves) begin(s plan.MoveSlots) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.started.IsZero() {
		m.started = m.clock.Now()
	}
	m.of = m.done.Slots + s.Left
}

// add adds what has moved.
func (m *moves) add(p step.Progress) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.done.Slots += p.Slots
	m.done.Keys += p.Keys
	m.done.Bytes += p.Bytes
	if m.told == nil {
		return
	}
	all := Progress{Slots: m.done.Slots, Of: max(m.of, m.done.Slots), Keys: m.done.Keys, Bytes: m.done.Bytes, Elapsed: m.clock.Now().Sub(m.started)}
	if all.Slots > 0 {
		all.Left = all.Elapsed * time.Duration(all.Of-all.Slots) / time.Duration(all.Slots)
	}
	m.told(all)
}

// ended counts failures in a row. A step that moved something is none, whatever became of the
// others of its slots: they are left at the end, and then alone. A slot with many keys takes
// several steps when its target is often away.
func (m *moves) ended(s plan.Step, err error) {
	if _, ok := s.(plan.MoveSlots); !ok {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.failures++
	if err == nil || m.done.Slots > m.since.Slots || m.done.Keys > m.since.Keys {
		m.failures = 0
	}
	m.since = m.done
}

// backoff is how long to wait before the next move.
func (m *moves) backoff() time.Duration {
	if m.failures == 0 {
		return 0
	}
	return min(firstBackoff<<min(m.failures, 16), lastBackoff)
}

// look records migrations that were in flight in an earlier survey and have failed since:
// nobody else asks what became of them.
func (m *moves) look(view survey.View) error {
	var failed error
	for i := range view.Answers {
		a := &view.Answers[i]
		for _, job := range a.Migrations {
			switch {
			case !job.Ended():
				m.running[job.Name] = true
			case m.running[job.Name]:
				delete(m.running, job.Name)
				if job.State != "success" {
					m.failures++
					failed = &step.MoveError{Pod: a.Pod.Name, Slots: job.Slots, Message: job.State + ": " + job.Message}
				}
			}
		}
	}
	return failed
}

// drained are the shards beyond the wanted count of which every pod that was asked answered
// and has no key, and that own no slot.
func drained(d plan.Desired, view survey.View) string {
	if !slices.ContainsFunc(view.Answers, func(a survey.Answer) bool { return a.Pod.Shard >= d.Shards }) {
		return ""
	}
	owners := view.Owners()
	clean := map[int32]bool{}
	for i := range view.Answers {
		a := &view.Answers[i]
		shard := a.Pod.Shard
		if shard < d.Shards {
			continue
		}
		empty := a.Answered() && a.Keys == 0 && owners.Slots[a.ID].Count() == 0
		if before, seen := clean[shard]; seen {
			empty = empty && before
		}
		clean[shard] = empty
	}
	var shards []slot.Range
	for shard, empty := range clean {
		if empty {
			shards = append(shards, slot.Range{First: int(shard), Last: int(shard)})
		}
	}
	if len(shards) == 0 {
		return ""
	}
	return slot.Of(shards...).String()
}
