// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"time"

	"github.com/valkey-render/valkey-render/topologyjob/outcome"
)

// Most is how often the same input is tried.
const Most = 6

// Backoff is how long the next Job waits after so many of the same input have failed.
func Backoff(attempts int32) time.Duration {
	const first, most = 5 * time.Second, 5 * time.Minute
	wait := first
	for range max(0, attempts-1) {
		wait = min(2*wait, most)
	}
	return wait
}

// Next says which attempt an order is, and from when it may start. spent is true when it
// was tried often enough: then somebody has to change the input, ask for a retry, or
// delete the Job that failed.
func Next(records []Record, input string) (attempt int32, from time.Time, spent *Record) {
	for i := len(records) - 1; i >= 0; i-- {
		r := records[i]
		if r.Input != input || !r.Over() || r.Leaving {
			continue
		}
		if !r.Failed {
			// It has done all there was, and yet there is more of the same.
			return 1, r.Ended.Add(Backoff(1)), nil
		}
		if !r.counts() {
			return r.Attempt, r.Ended.Add(Backoff(1)), nil
		}
		if r.Attempt >= Most {
			return 0, time.Time{}, &records[i]
		}
		return r.Attempt + 1, r.Ended.Add(Backoff(r.Attempt)), nil
	}
	return 1, time.Time{}, nil
}

// counts reports whether a failure says anything about the next attempt: a Job that was
// interrupted, or that got on and ran out of time, may simply go on.
func (r Record) counts() bool {
	if r.Outcome == nil {
		return true
	}
	switch r.Outcome.Result {
	case outcome.Interrupted, outcome.Raced:
		return false
	case outcome.Deadline:
		return r.Outcome.Counts["movedSlots"] == 0
	}
	return true
}

// remembered is how long a Job stays that ended well, so that the same is not done over and
// over by Jobs that all find nothing to do.
const remembered = 2 * time.Minute

// Superseded are the Jobs that have nothing to tell any more: those that ended well some
// time ago, and those that failed before another one of their kind. The last failure of a
// kind stays: it is what attempts are counted by.
func Superseded(records []Record, now time.Time) []Record {
	var list []Record
	last := map[string]bool{}
	for i := len(records) - 1; i >= 0; i-- {
		r := records[i]
		if r.Over() && !r.Leaving && (last[r.Kind] || !r.Failed && now.Sub(r.Ended) > remembered) {
			list = append(list, r)
		}
		last[r.Kind] = true
	}
	return list
}
