// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package converge

import (
	"errors"
	"time"

	"github.com/valkey-render/valkey-render/topologyjob/step"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// strandedAgain is after how long keys that had no other copy are compared again: they may
// have expired, or been written where they belong.
const strandedAgain = 20 * time.Second

// stranded are the nodes with keys that have no other copy, by ID, as steps found out.
type stranded map[string]found

type found struct {
	what string
	at   time.Time
}

// ended takes over what a step found out.
func (s stranded) ended(err error, now time.Time) {
	var e *step.StrandedError
	if errors.As(err, &e) {
		s[e.ID] = found{e.What, now}
	}
}

// tell adds it to a survey.
func (s stranded) tell(view survey.View, now time.Time) {
	for i := range view.Answers {
		a := &view.Answers[i]
		if f, known := s[a.ID]; known && now.Sub(f.at) < strandedAgain {
			a.Stranded = f.what
		}
	}
}
