// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/valkey-render/valkey-render/cmd/internal/cli"
	"github.com/valkey-render/valkey-render/topologyjob/outcome"
)

// defaultLog is where Kubernetes takes the termination message of a container from.
const defaultLog = "/dev/termination-log"

func runLong() string {
	return `Do one kind of work:
` + kindHelp() + `

It ends when there is nothing left to do, when it is blocked, or at --deadline.
Without --deadline nothing is waited for that is not there yet; servers have 10s to
agree with each other after whatever was done.
How it ended is printed, and written to --termination-log as JSON, at most 4 KiB.`
}

// runner is one run. Kinds read its flags.
type runner struct {
	sys         System
	version     string
	kind        cli.Choice
	output      cli.Choice
	deadline    time.Duration
	dryRun      bool
	log         string
	specs       specs
	target      target
	settings    settings
	connection  cli.Connection
	deliver     deliver
	lastWaiting string
}

func newRun(sys System, version string) *cobra.Command {
	r := &runner{sys: sys, version: version, kind: cli.NewChoice(append([]string{""}, kindNames()...)...), output: cli.NewChoice("text", "json")}
	cmd := &cobra.Command{
		Use:   "run --kind KIND",
		Short: "Do one kind of work on a cluster, as a Job does",
		Long:  runLong(),
		Example: `  valkey-topology run --kind secrets -f cluster.yaml --dry-run
  valkey-topology run --kind secrets -f cluster.yaml --deadline 5m --output json
  valkey-topology run --kind drain -f cluster.yaml --present-shards 5 --deadline 2h
  valkey-topology run --kind reshard -f cluster.yaml --reshard from=0,to=1,slots=100`,
		Args: cli.NoOperands,
		RunE: func(cmd *cobra.Command, _ []string) error {
			k, found := lookup(r.kind.Value)
			switch {
			case !found:
				return cli.Usage(cmd, "--kind is missing: must be one of %s", r.kind.Type())
			case r.deadline < 0:
				return cli.Usage(cmd, "--deadline %s: must not be negative", r.deadline)
			}
			return r.run(cmd.Context(), k)
		},
	}
	flags := cmd.Flags()
	r.kind.AddTo(cmd, "kind", "", "what to do")
	r.output.AddTo(cmd, "output", "o", "how to print how it ended")
	flags.DurationVar(&r.deadline, "deadline", 0, "give up after this time, for example 10m; 0 waits for nothing that is not there yet")
	flags.BoolVar(&r.dryRun, "dry-run", false, "look and tell what would be done, and do nothing")
	flags.StringVar(&r.log, "termination-log", "", "`file` for how it ended (default "+defaultLog+" if there is one)")
	r.specs.addTo(cmd)
	r.target.addTo(cmd)
	r.settings.addTo(cmd)
	r.deliver.addTo(cmd)
	r.connection.AddTo(cmd)
	return cmd
}

// endError ends a command that has already told how it ended.
type endError struct{ result outcome.Result }

func (e *endError) Error() string { return string(e.result) }

func (r *runner) run(ctx context.Context, k kind) error {
	begun := r.sys.Clock.Now()
	if r.deadline > 0 {
		limited, cancel := context.WithTimeout(ctx, r.deadline)
		defer cancel()
		ctx = limited
	}
	did, err := k.work(ctx, r)
	o := r.judge(ctx, k, did, err)
	o.Milliseconds = r.sys.Clock.Since(begun).Milliseconds()
	cli.Report(r.sys.Err, program, err)
	if err := r.tell(o); err != nil {
		cli.Report(r.sys.Err, program, err)
		if o.Result == outcome.Converged {
			// Nobody would learn of it.
			o.Result = outcome.Failed
		}
	}
	if o.Result == outcome.Converged {
		return nil
	}
	return &endError{o.Result}
}

// judge says how a run ended.
func (r *runner) judge(ctx context.Context, k kind, did done, err error) outcome.Outcome {
	o := outcome.Outcome{Kind: k.name, Result: outcome.Converged, Message: did.message, Counts: did.counts, Fingerprint: did.fingerprint, DryRun: r.dryRun}
	if err == nil {
		return o
	}
	o.Result, o.Message = outcome.Failed, err.Error()
	if v, ok := errors.AsType[*verdict](err); ok {
		o.Result, o.Reason = v.result, v.reason
	}
	if _, ok := errors.AsType[*cli.UsageError](err); ok {
		o.Result = outcome.BadInput
	}
	// What kept it from being done in time is the reason, and that it was not is the
	// result.
	switch {
	case o.Result == outcome.BadInput:
	case errors.Is(context.Cause(ctx), context.DeadlineExceeded):
		o.Result = outcome.Deadline
	case ctx.Err() != nil:
		o.Result = outcome.Interrupted
	}
	return o
}

// tell prints how the run ended, and leaves it where Kubernetes looks.
func (r *runner) tell(o outcome.Outcome) error {
	data, err := o.JSON()
	if err != nil {
		return err
	}
	log := r.log
	if log == "" && r.sys.Files.Exists(defaultLog) {
		log = defaultLog
	}
	if log != "" {
		if err := r.sys.Files.Replace(log, data); err != nil {
			return fmt.Errorf("termination log: %w", err)
		}
	}
	if r.output.Value == "json" {
		_, err = fmt.Fprintf(r.sys.Out, "%s\n", data)
		return err
	}
	line := fmt.Sprintf("%s: %s", o.Kind, o.Result)
	if o.Reason != "" {
		line += " (" + o.Reason + ")"
	}
	if o.DryRun {
		line += " (dry run: nothing was written)"
	}
	if o.Result == outcome.Converged && o.Message != "" {
		line += ": " + o.Message
	}
	_, err = fmt.Fprintln(r.sys.Out, line)
	return err
}

// waiting narrates what is waited for, each time it changes.
func (r *runner) waiting(err error) {
	if text := err.Error(); text != r.lastWaiting {
		r.lastWaiting = text
		cli.Report(r.sys.Err, program+": waiting", err)
	}
}

// pause waits for a time; false when ctx ended first.
func (r *runner) pause(ctx context.Context, d time.Duration) bool {
	timer := r.sys.Clock.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C():
		return true
	case <-ctx.Done():
		return false
	}
}
