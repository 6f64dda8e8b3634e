// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package converge

import (
	"errors"

	"github.com/valkey-render/valkey-render/topologyjob/plan"
	"github.com/valkey-render/valkey-render/topologyjob/step"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// Result is how a run ended.
type Result string

// How a run ended.
const (
	// Converged: everything is as wanted, and all nodes agree.
	Converged Result = "Converged"
	// Planned: a dry run; Next says what would be done.
	Planned Result = "Planned"
	// Stuck: blocked, Reason and Message say by what.
	Stuck Result = "Blocked"
	// TimedOut: the deadline passed; Message says what was waited for.
	TimedOut Result = "DeadlineExceeded"
	// Unfinished: what is left has to be waited for, which was not asked for. Message says what.
	Unfinished Result = "Unfinished"
	// Interrupted: told to stop.
	Interrupted Result = "Interrupted"
)

// Outcome is what a run came to: counters and codes, small enough for a termination
// message whatever the size of the cluster.
type Outcome struct {
	Kind   Kind   `json:"kind"`
	Result Result `json:"result"`
	// Reason is the code of a block.
	Reason plan.Reason `json:"reason,omitempty"`
	// Message says what was waited for or what is blocked, in at most 1,000 bytes.
	Message string `json:"message,omitempty"`
	// Next is the plan as of the last pass.
	Next string `json:"next,omitempty"`
	// Pods is how many were asked, Answered how many answered in the last pass.
	Pods     int `json:"pods"`
	Answered int `json:"answered"`
	// Owned is how many slots have an owner that answered.
	Owned int `json:"owned"`
	// Keys is how many keys the owners of slots, or primaries, hold.
	Keys int64 `json:"keys"`
	// Passes is how often everything was asked.
	Passes int `json:"passes"`
	// Steps is how many steps of each kind were done.
	Steps map[string]int `json:"steps,omitempty"`
	// Raced, Unproven and Failed count steps that ended otherwise: what they were planned
	// for had changed, their effect was not seen in time, or a server did not do it.
	Raced    int `json:"raced,omitempty"`
	Unproven int `json:"unproven,omitempty"`
	Failed   int `json:"failed,omitempty"`
	// MovedSlots, MovedKeys and MovedBytes are what was moved; bytes are about right.
	MovedSlots int   `json:"movedSlots,omitempty"`
	MovedKeys  int64 `json:"movedKeys,omitempty"`
	MovedBytes int64 `json:"movedBytes,omitempty"`
	// Drained are the shards beyond the wanted count that have neither slots nor keys, as of
	// the last pass: "3-4".
	Drained string `json:"drained,omitempty"`
	// LastError is the last of these, of a step of kind FailedStep.
	LastError  string  `json:"lastError,omitempty"`
	FailedStep string  `json:"failedStep,omitempty"`
	Seconds    float64 `json:"seconds"`

	failed bool
}

// Exit is the process's status: 0 converged, 1 blocked, stopped or not finished, 124 out of time.
func (o Outcome) Exit() int {
	switch o.Result {
	case Converged, Planned:
		return 0
	case TimedOut:
		return 124
	}
	return 1
}

// note takes over what a pass saw.
func (o *Outcome) note(view survey.View, p plan.Plan) {
	o.Passes++
	o.Pods, o.Answered, o.Owned, o.Keys = len(view.Answers), 0, 0, 0
	owners := view.Owners()
	for i := range view.Answers {
		a := &view.Answers[i]
		if !a.Answered() {
			continue
		}
		o.Answered++
		if r := a.Replication; r != nil && r.Primary {
			o.Keys += a.Keys
		}
		if slots := owners.Slots[a.ID]; len(slots) > 0 {
			o.Owned += slots.Count()
			o.Keys += a.Keys
		}
	}
	o.Next, o.Reason, o.Message = clip(p.String()), "", ""
	switch {
	case p.Blocked != nil:
		o.Reason, o.Message = p.Blocked.Reason, clip(p.Blocked.Message)
	case len(p.Waiting) > 0:
		o.Message = clip(plan.Plan{Waiting: p.Waiting}.String())
	}
}

// failure counts a step that did not end well.
func (o *Outcome) failure(err error) {
	o.failed = true
	var (
		raced    *step.RacedError
		unproven *step.UnprovenError
	)
	switch {
	case errors.As(err, &raced):
		o.Raced++
	case errors.As(err, &unproven):
		o.Unproven++
	default:
		o.Failed++
	}
	o.LastError = clip(err.Error())
}

// clip bounds a text, at a character.
func clip(text string) string {
	const most = 1000
	if len(text) <= most {
		return text
	}
	cut := most
	for cut > 0 && text[cut]&0xC0 == 0x80 {
		cut--
	}
	return text[:cut] + "…"
}
