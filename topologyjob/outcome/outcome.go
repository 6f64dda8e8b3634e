// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package outcome

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// Result says how a Job ended.
type Result string

const (
	// Converged: nothing was, or is any more, to be done.
	Converged Result = "Converged"
	// Blocked: something only somebody else can put right. Nothing was changed that
	// would have to be taken back.
	Blocked Result = "Blocked"
	// Failed: a request failed that should not have.
	Failed Result = "Failed"
	// BadInput: what the Job was told makes no sense. It is of no use to run it again.
	BadInput Result = "BadInput"
	// Raced: somebody else acted meanwhile. To be run again.
	Raced Result = "Raced"
	// Deadline: the time was over before all was done. To be run again.
	Deadline Result = "Deadline"
	// Interrupted: the process was told to stop. To be run again.
	Interrupted Result = "Interrupted"
)

// ExitCode is the exit code of the process.
func (r Result) ExitCode() int {
	switch r {
	case Converged:
		return 0
	case BadInput:
		return ExitBadInput
	case Raced:
		return 3
	case Deadline:
		return 124
	case Interrupted:
		return 130
	default:
		return 1
	}
}

// ExitBadInput is the exit code of BadInput, after which a Job is not tried again. It
// is EX_USAGE of sysexits.h. The 2 of most programs is also how a Go program ends that
// crashes, or that is PID 1 of a container and gets a SIGTERM before it listens.
const ExitBadInput = 64

// Limit is how many bytes of a termination message Kubernetes keeps: the last ones,
// so that a longer document would lose its beginning.
const Limit = 4096

// Outcome is how one run ended. It holds counts, never lists: what a Job did to each
// of 500 shards is in its log.
type Outcome struct {
	// Kind of the Job.
	Kind string `json:"kind"`
	// Result of the run.
	Result Result `json:"result"`
	// Reason is one word for machines; empty when all went well.
	Reason string `json:"reason,omitempty"`
	// Message is for people. It never holds a secret.
	Message string `json:"message,omitempty"`
	// DryRun says that nothing was written.
	DryRun bool `json:"dryRun,omitempty"`
	// Counts of what was done.
	Counts map[string]int64 `json:"counts,omitempty"`
	// Fingerprint is that of the certificate that every pod was seen to show: the SHA-256
	// of its DER in lower-case hex. Of kind tls, when it has converged.
	Fingerprint string `json:"fingerprint,omitempty"`
	// Milliseconds that the run took.
	Milliseconds int64 `json:"milliseconds"`
}

// cut ends a message that was too long.
const cut = "…"

// JSON is the document, at most Limit bytes: a message that is too long is cut.
func (o Outcome) JSON() ([]byte, error) {
	for {
		data, err := json.Marshal(o)
		if err != nil {
			return nil, fmt.Errorf("outcome: %w", err)
		}
		over := len(data) - Limit
		if over <= 0 {
			return data, nil
		}
		if o.Message == "" {
			return nil, fmt.Errorf("outcome: %d bytes, more than %d, without a message", len(data), Limit)
		}
		o.Message = shorter(o.Message, over+len(cut))
	}
}

// shorter takes at least n bytes off the end of a text, whole characters only.
func shorter(text string, n int) string {
	end := max(0, len(text)-n)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	if end == 0 {
		return ""
	}
	return text[:end] + cut
}

// Parse reads a document that JSON wrote. An error is what a process leaves that was
// killed before its end, or that was none of ours.
func Parse(data []byte) (Outcome, error) {
	var o Outcome
	if err := json.Unmarshal(data, &o); err != nil {
		return Outcome{}, fmt.Errorf("outcome: %w", err)
	}
	if o.Kind == "" || o.Result == "" {
		return Outcome{}, fmt.Errorf("outcome: no kind or no result")
	}
	return o, nil
}
