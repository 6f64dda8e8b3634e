// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/valkey-render/valkey-render/cmd/internal/cli"
	"github.com/valkey-render/valkey-render/cmd/valkey-render/internal/system"
	"github.com/valkey-render/valkey-render/render/job"
)

// program is its name in messages.
const program = "valkey-render"

const rootLong = `valkey-render turns ValkeyCluster specs into the Kubernetes manifests that run
them, byte for byte the same on any machine, and refuses wrong input before it
is committed. Only apply, diff, wait and delete talk to a Kubernetes cluster,
and try starts servers on this machine; all other commands read files and make
no network connection.

Exit codes: 0 done; 1 check or diff found differences (or validate a warning,
with --fail-on warning), or a cluster refused an object; 2 wrong usage or input,
or no connection; 124 --timeout ran out; 130 interrupted.`

const rootExample = `  # Run a cluster on this machine, without Kubernetes
  valkey-render try -f cluster.yaml

  # Render a cluster and apply it
  valkey-render build -f cluster.yaml | kubectl apply --server-side -f -

  # Keep the rendering in Git, and check in CI that it is current
  valkey-render build -f clusters/ --output-dir rendered/
  valkey-render check -f clusters/ rendered/`

// Main runs the command line until it is done or the process is told to stop,
// and returns the exit code. version is the release's, "" for other builds.
func Main(sys system.System, version string, args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// The first signal ends the command in order; a second one kills.
	context.AfterFunc(ctx, stop)
	return Run(ctx, sys, version, args)
}

// Run runs one command line and returns its exit code.
func Run(ctx context.Context, sys system.System, version string, args []string) int {
	root := NewRoot(sys, version)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	report(sys.Err, err)
	return exitCode(err)
}

// NewRoot is the tree of all commands.
func NewRoot(sys system.System, version string) *cobra.Command {
	sys.JobImage = job.Image(describeBuild(version).Version)
	var timeout time.Duration
	stop := func() {}
	root := &cobra.Command{
		Use:           "valkey-render",
		Short:         "Render Valkey clusters for Kubernetes",
		Long:          rootLong,
		Example:       rootExample,
		Args:          cobra.ArbitraryArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		// Commands are listed by what one does first.
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return cli.UnknownCommand(cmd, args[0])
		},
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if timeout < 0 {
				return &cli.UsageError{Command: cmd.CommandPath(), Err: fmt.Errorf("--timeout %s: must not be negative", timeout)}
			}
			if timeout > 0 {
				ctx, cancel := context.WithTimeout(cmd.Context(), timeout)
				stop = cancel
				cmd.SetContext(ctx)
			}
			return nil
		},
		PersistentPostRun: func(*cobra.Command, []string) { stop() },
	}
	root.Version = describeBuild(version).Version
	root.SetVersionTemplate("valkey-render {{.Version}}\n")
	root.PersistentFlags().DurationVar(&timeout, "timeout", 0, "give up after this time, for example 30s; 0 waits for ever")
	// How many letters a command may be away from the one that was meant.
	root.SuggestionsMinimumDistance = 2
	root.SetIn(sys.In)
	root.SetOut(sys.Out)
	root.SetErr(sys.Err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return &cli.UsageError{Command: cmd.CommandPath(), Err: err}
	})
	root.AddCommand(
		newTry(sys), newBuild(sys), newCheck(sys, version), newValidate(sys, version),
		newApply(sys, version), newDiff(sys, version), newWait(sys, version), newDelete(sys, version),
		newDirectives(sys), newExplain(sys), newSchema(sys), newVersion(sys, version), cli.NewCompletion(sys.Out, program),
	)
	root.SetHelpCommand(cli.NewHelp("  valkey-render help build"))
	root.InitDefaultHelpCmd()
	return root
}

// noOperands refuses operands and says where they belong.
func noOperands(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if cmd.Flags().Lookup("filename") != nil {
		return &cli.UsageError{Command: cmd.CommandPath(), Err: fmt.Errorf("operand %q is not understood: name input with -f, as in '%s -f %s'", args[0], cmd.CommandPath(), args[0])}
	}
	return &cli.UsageError{Command: cmd.CommandPath(), Err: fmt.Errorf("operand %q is not understood: '%s' takes none", args[0], cmd.CommandPath())}
}

// atMost refuses more than n operands.
func atMost(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) <= n {
			return nil
		}
		return &cli.UsageError{Command: cmd.CommandPath(), Err: fmt.Errorf("operand %q is not understood: '%s' takes one %s", args[n], cmd.CommandPath(), what)}
	}
}
