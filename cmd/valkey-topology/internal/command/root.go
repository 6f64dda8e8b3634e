// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/valkey-render/valkey-render/cmd/internal/cli"
	"github.com/valkey-render/valkey-render/topologyjob/outcome"
)

const rootLong = `valkey-topology does what Kubernetes cannot do for a Valkey cluster. It runs
inside Jobs, which the reconciler starts or, with jobs: Rendered, the manifests
hold. It can be killed anywhere and started again.

Exit codes: 0 converged; 1 blocked, or a request failed; 3 somebody else acted
meanwhile, run it again; 64 wrong usage or input; 124 --deadline ran out;
130 interrupted. Any other, such as 2, is a crash.`

// program is its name in messages.
const program = "valkey-topology"

// Main runs the command line until it is done or the process is told to stop,
// and returns the exit code. version is the release's, "" for other builds.
func Main(sys System, version string, args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// The first signal ends the command in order; a second one kills.
	context.AfterFunc(ctx, stop)
	return Run(ctx, sys, version, args)
}

// Run runs one command line and returns its exit code.
func Run(ctx context.Context, sys System, version string, args []string) int {
	root := NewRoot(sys, version)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if told, ok := errors.AsType[*endError](err); ok {
		return told.result.ExitCode()
	}
	cli.Report(sys.Err, program, err)
	if err != nil {
		return outcome.BadInput.ExitCode()
	}
	return 0
}

// NewRoot is the tree of all commands.
func NewRoot(sys System, version string) *cobra.Command {
	root := &cobra.Command{
		Use:               program,
		Short:             "Do what only the Valkey protocol or a Secret can do for a cluster",
		Long:              rootLong,
		Example:           "  valkey-topology run --kind secrets -f cluster.yaml --dry-run",
		Args:              cobra.ArbitraryArgs,
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return cli.UnknownCommand(cmd, args[0])
		},
	}
	root.Version = cli.Version(version)
	root.SetVersionTemplate(program + " {{.Version}}\n")
	// How many letters a command may be away from the one that was meant.
	root.SuggestionsMinimumDistance = 2
	root.SetOut(sys.Out)
	root.SetErr(sys.Err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return &cli.UsageError{Command: cmd.CommandPath(), Err: err}
	})
	root.AddCommand(newRun(sys, root.Version), newSurvey(sys), newPlan(sys), cli.NewCompletion(sys.Out, program))
	root.SetHelpCommand(cli.NewHelp("  valkey-topology help run"))
	root.InitDefaultHelpCmd()
	return root
}
