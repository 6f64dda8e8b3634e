// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// UsageError is a wrong invocation; it is followed by a pointer to --help.
type UsageError struct {
	// Command is the path of the command, as in "valkey-topology run".
	Command string
	// Err says what is wrong.
	Err error
}

func (e *UsageError) Error() string { return e.Err.Error() }
func (e *UsageError) Unwrap() error { return e.Err }

// Usage is a *UsageError of a command.
func Usage(cmd *cobra.Command, format string, args ...any) error {
	return &UsageError{cmd.CommandPath(), fmt.Errorf(format, args...)}
}

// UnknownCommand is the error of a command that there is not, with those it may have
// been meant for.
func UnknownCommand(cmd *cobra.Command, name string) error {
	if near := cmd.SuggestionsFor(name); len(near) > 0 {
		return Usage(cmd, "unknown command %q; did you mean %s?", name, strings.Join(near, " or "))
	}
	return Usage(cmd, "unknown command %q", name)
}

// NoOperands refuses operands.
func NoOperands(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return Usage(cmd, "operand %q is not understood: '%s' takes none", args[0], cmd.CommandPath())
}

// Report says on w what ended a program, one line per error.
func Report(w io.Writer, program string, err error) {
	if err == nil {
		return
	}
	for line := range strings.Lines(strings.TrimRight(err.Error(), "\n")) {
		fmt.Fprintf(w, "%s: %s\n", program, strings.TrimRight(line, "\n"))
	}
	if usage, ok := errors.AsType[*UsageError](err); ok {
		fmt.Fprintf(w, "Run '%s --help' for usage.\n", usage.Command)
	}
}
