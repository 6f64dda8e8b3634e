// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// Run runs a command with Environment added to this process's, until it ends or ctx
// does, and returns its exit status, 128 and the signal's number for one that a signal
// ended. The error is why it could not be run.
func (o Connection) Run(ctx context.Context, command []string, in io.Reader, out, errs io.Writer) (status int, err error) {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env = append(os.Environ(), o.Environment()...)
	// For valkey-cli; what the caller has comes first.
	cmd.Env = append(cmd.Env, "PATH="+os.Getenv("PATH")+string(os.PathListSeparator)+o.programs)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, errs
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return 0, ctx.Err()
	case errors.As(err, &exit):
		if ws, ok := exit.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
			return 128 + int(ws.Signal()), nil
		}
		return exit.ExitCode(), nil
	}
	return 0, err
}

// Poll calls look again and again until ctx is done.
func Poll(ctx context.Context, look func()) {
	const period = 500 * time.Millisecond
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(period):
			look()
		}
	}
}
