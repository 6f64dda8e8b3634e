// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"syscall"

	"github.com/valkey-render/valkey-render/cmd/internal/cli"
)

// Exit codes of every command.
const (
	// exitOK: done, nothing wrong.
	exitOK = 0
	// exitDifferences: check or diff found differences, validate found a warning
	// and was asked to fail on it, or the server refused an object.
	exitDifferences = 1
	// exitError: the input or the usage is wrong, or a file could not be read
	// or written.
	exitError = 2
	// exitTimeout: --timeout ran out (as timeout(1) has it).
	exitTimeout = 124
	// exitInterrupted: SIGINT or SIGTERM (128 + SIGINT, as shells have it).
	exitInterrupted = 130
)

// errDifferences and errFindings end a command that has already printed what
// is wrong: they only carry an exit code.
var (
	errDifferences = errors.New("differences")
	errFindings    = errors.New("findings")
)

// subject puts what an error is about first; the joined errors of a directory
// each name their file already.
func subject(name string, err error) error {
	var all []error
	parts := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		parts = joined.Unwrap()
	}
	for _, part := range parts {
		if pathErr, ok := errors.AsType[*fs.PathError](part); ok && pathErr.Path != name && pathErr.Path != "." {
			part = fmt.Errorf("%s: %w", filepath.ToSlash(pathErr.Path), pathErr.Err)
		} else if ok {
			part = pathErr.Err
		}
		all = append(all, fmt.Errorf("%s: %w", name, part))
	}
	return errors.Join(all...)
}

// exitCode maps the error of a command to the process's exit code.
func exitCode(err error) int {
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errDifferences):
		return exitDifferences
	case isStatus(err):
		return statusOf(err)
	case errors.Is(err, context.DeadlineExceeded):
		return exitTimeout
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case isOutcome(err):
		return exitDifferences
	default:
		return exitError
	}
}

// outcomeError is how objects in a cluster ended up, as opposed to a command that
// could not be carried out.
type outcomeError struct{ err error }

func (e *outcomeError) Error() string { return e.err.Error() }
func (e *outcomeError) Unwrap() error { return e.err }

// statusError ends the program with the exit status of a command that it ran, which has
// said what there was to say.
type statusError struct{ status int }

func (e *statusError) Error() string { return fmt.Sprintf("exit status %d", e.status) }

func isStatus(err error) bool {
	_, ok := errors.AsType[*statusError](err)
	return ok
}

func statusOf(err error) int {
	e, _ := errors.AsType[*statusError](err)
	return e.status
}

func isOutcome(err error) bool {
	_, ok := errors.AsType[*outcomeError](err)
	return ok
}

// report says on w what ended a command, one line per error.
func report(w io.Writer, err error) {
	switch {
	case err == nil, errors.Is(err, errDifferences), errors.Is(err, errFindings), isStatus(err):
		return
	case errors.Is(err, syscall.EPIPE):
		// Whoever read the output has seen enough.
		return
	case errors.Is(err, context.DeadlineExceeded):
		fmt.Fprintln(w, "valkey-render: the time given by --timeout ran out")
		return
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(w, "valkey-render: interrupted")
		return
	}
	cli.Report(w, program, err)
}
