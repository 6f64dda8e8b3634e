// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/valkey-render/valkey-render/cmd/valkey-render/internal/system"
	"github.com/valkey-render/valkey-render/render/apply"
)

// mostLines is how many objects one step of progress names.
const mostLines = 20

// narrator says what happens in a cluster: changes as lines of data, the rest as
// narration.
type narrator struct {
	sys system.System
	// quiet leaves the changes to a document that follows.
	quiet  bool
	dryRun bool
	// rewritten says that the last line of the terminal is progress.
	rewritten bool
	mu        sync.Mutex
	err       error
}

// change is one line on standard output.
func (n *narrator) change(c apply.Change) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.quiet || c.Action == apply.Unchanged || c.Action == apply.Failed || c.Action == "" {
		return
	}
	n.clear()
	line := fmt.Sprintf("%s %s", c.ID, c.Action)
	if c.Message != "" {
		line += ": " + c.Message
	}
	if n.dryRun {
		line += " (server dry run)"
	}
	if n.err == nil {
		n.err = emit(n.sys.Out, []byte(line+"\n"))
	}
}

// note is one line on standard error.
func (n *narrator) note(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.clear()
	fmt.Fprintf(n.sys.Err, "warning: %s\n", text)
}

// progress rewrites a line of a terminal, and adds lines elsewhere.
func (n *narrator) progress(p apply.Progress) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.sys.Terminal {
		for i, s := range p.Changed {
			if i == mostLines {
				fmt.Fprintf(n.sys.Err, "[%d/%d] and %d more\n", p.Ready, p.Total, len(p.Changed)-mostLines)
				break
			}
			fmt.Fprintf(n.sys.Err, "[%d/%d] %s\n", p.Ready, p.Total, describeStatus(s))
		}
		return
	}
	n.clear()
	text := fmt.Sprintf("%d of %d objects are ready", p.Ready, p.Total)
	if len(p.Pending) > 0 {
		text += "; " + describeStatus(p.Pending[0])
	}
	fmt.Fprint(n.sys.Err, text)
	n.rewritten = true
}

// clear takes progress off the terminal's line.
func (n *narrator) clear() {
	if n.rewritten {
		fmt.Fprint(n.sys.Err, "\r\x1b[K")
		n.rewritten = false
	}
}

func (n *narrator) done() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.clear()
}

func describeStatus(s apply.Status) string {
	line := fmt.Sprintf("%s: %s", s.ID, s.State)
	if s.Message != "" {
		line += ": " + s.Message
	}
	return line
}

// total is one line about all changes.
func (n *narrator) total(results []apply.Result) {
	counts := apply.Count(results)
	var parts []string
	for _, action := range []apply.Action{apply.Created, apply.Configured, apply.Unchanged, apply.Deleted, apply.Kept, apply.Held, apply.Failed} {
		if counts[action] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[action], action))
		}
	}
	if len(parts) == 0 {
		parts = []string{"nothing to do"}
	}
	suffix := ""
	if n.dryRun {
		suffix = " (server dry run: nothing was written)"
	}
	fmt.Fprintf(n.sys.Err, "%s%s\n", strings.Join(parts, ", "), suffix)
}

// outcome gives an error about objects its exit code, and names what a wait that
// ran out of time was waiting for.
func (n *narrator) outcome(err error) error {
	n.done()
	if err == nil {
		return n.err
	}
	notReady, ok := errors.AsType[*apply.NotReadyError](err)
	switch {
	case ok && notReady.Err != nil:
		for i, s := range notReady.Pending {
			if i == mostLines {
				fmt.Fprintf(n.sys.Err, "not ready: and %d more\n", len(notReady.Pending)-mostLines)
				break
			}
			fmt.Fprintf(n.sys.Err, "not ready: %s\n", describeStatus(s))
		}
		return notReady.Err
	case ok, apply.IsRefusal(err):
		return &outcomeError{err}
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		n.interrupted(err)
	}
	return err
}

// interrupted names what was under way, and what had failed by then: the end of
// the time is all that is said of the error itself.
func (n *narrator) interrupted(err error) {
	for line := range strings.Lines(err.Error()) {
		line = strings.TrimSpace(line)
		if line != context.DeadlineExceeded.Error() && line != context.Canceled.Error() {
			fmt.Fprintf(n.sys.Err, "not done: %s\n", line)
		}
	}
}

// outcome is the JSON of apply, delete and wait.
type outcome struct {
	// DryRun says that nothing was written.
	DryRun   bool           `json:"dryRun,omitempty"`
	Clusters []apply.Result `json:"clusters,omitempty"`
	// Statuses are what a wait saw last.
	Statuses []apply.Status `json:"statuses,omitempty"`
	// Error is what is said on standard error too.
	Error string `json:"error,omitempty"`
}

// print writes the JSON if it was asked for, whatever happened.
func (n *narrator) print(d outcome, err error) error {
	if !n.quiet {
		return err
	}
	if err != nil {
		d.Error = err.Error()
	}
	return errors.Join(err, emitJSON(n.sys.Out, d))
}
