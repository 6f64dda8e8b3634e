// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/valkey-render/valkey-render/cmd/internal/cli"
	"github.com/valkey-render/valkey-render/cmd/valkey-render/internal/outdir"
	"github.com/valkey-render/valkey-render/cmd/valkey-render/internal/system"
)

const checkLong = `Compare what the specs render to with what is committed, and print the
difference: a unified diff that leads from the committed files to the rendered
ones, or with --output findings for code review tools.

Lines that begin with "plan:" say what the change does to clusters that run:
which pods roll, what applies live, which disks grow. A change that a running
cluster cannot follow (an immutable field, a smaller disk, an older version, a
shard less) is an error, and --update refuses it without --force.

GOLDEN is a directory as build --output-dir writes it, or a file as build writes
it to standard output. In a directory, missing files and files that are no
longer rendered are differences too; files that others wrote there are not.
Line ends are no difference. With --update GOLDEN becomes what is rendered, and
a path that does not exist is created: a file when it ends in .yaml or .yml.

Exit codes: 0 no difference, 1 differences, 2 wrong input or usage, or a change
that cannot be applied.
` + inputHelp

type checkRunner struct {
	sys    system.System
	input  input
	output cli.Choice
	update bool
	force  bool
	// version is the program's, for SARIF.
	version string
}

func newCheck(sys system.System, version string) *cobra.Command {
	r := &checkRunner{sys: sys, version: version, output: cli.NewChoice("diff", "text", "json", "sarif", "github")}
	cmd := &cobra.Command{
		Use:   "check (-f FILE | -k DIR)... GOLDEN",
		Short: "Compare a rendering with the committed one, and say what the change does",
		Long:  checkLong,
		Example: `  valkey-render check -f clusters/ rendered/
  valkey-render check -k environments/prod rendered/prod/ --output github
  valkey-render check -f cluster.yaml rendered.yaml --update`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				return nil
			}
			err := errors.New("name one directory or file to compare with, as in 'valkey-render check -f cluster.yaml rendered/'")
			if len(args) > 1 {
				err = fmt.Errorf("operand %q is not understood: only the directory or file to compare with is an operand, input is named with -f", args[1])
			}
			return &cli.UsageError{Command: cmd.CommandPath(), Err: err}
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := r.input.require(cmd); err != nil {
				return err
			}
			if r.force && !r.update {
				return &cli.UsageError{Command: cmd.CommandPath(), Err: errors.New("--force goes with --update")}
			}
			if err := r.input.refuseOverlap(cmd, r.sys, args[0]); err != nil {
				return err
			}
			return r.run(cmd.Context(), filepath.Clean(args[0]))
		},
	}
	r.input.addTo(cmd)
	r.output.AddTo(cmd, "output", "o", "how to print differences")
	cmd.Flags().BoolVar(&r.update, "update", false, "make GOLDEN what is rendered")
	cmd.Flags().BoolVar(&r.force, "force", false, "with --update, also what a running cluster cannot follow: for one that does not run, or was drained by hand")
	return cmd
}

func (r *checkRunner) run(ctx context.Context, path string) error {
	result, err := r.input.objects(ctx, r.sys)
	if err != nil {
		return err
	}
	g, err := openGolden(r.sys.Files, path, result.Objects, r.update)
	if err != nil {
		return subject(path, err)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	d, err := g.compare()
	if err != nil {
		return subject(path, err)
	}
	for _, e := range d.plan.Effects {
		fmt.Fprintf(r.sys.Err, "plan: %s\n", e)
	}
	if r.update {
		return r.accept(ctx, g, d, result)
	}
	for _, renamed := range d.renamed {
		fmt.Fprintf(r.sys.Err, "%s\n", renamed)
	}
	if err := r.print(d, result); err != nil {
		return err
	}
	if g.crlf {
		fmt.Fprintf(r.sys.Err, "%s: has line ends of Windows, which are no difference\n", path)
	}
	if len(d.changes) == 0 {
		return nil
	}
	fmt.Fprintf(r.sys.Err, "%s: %s; %s\n", path, d.summary(g.unit()), g.verdict(d))
	if len(d.plan.Blocked()) > 0 {
		return errFindings
	}
	return errDifferences
}

// accept makes the golden what is rendered, unless a running cluster could not
// follow.
func (r *checkRunner) accept(ctx context.Context, g *goldenFiles, d *drift, result rendering) error {
	if blocked := d.blockedFindings(result.set); len(blocked) > 0 {
		say(r.sys, blocked)
		if !r.force {
			fmt.Fprintf(r.sys.Err, "%s: not updated; --force accepts what a running cluster cannot follow\n", g.path)
			return errFindings
		}
	}
	return g.update(ctx, r.sys)
}

// print writes the differences in the form that was asked for.
func (r *checkRunner) print(d *drift, result rendering) error {
	blocked := d.blockedFindings(result.set)
	if r.output.Value == "diff" {
		say(r.sys, blocked)
		if len(d.diff) == 0 {
			return nil
		}
		return emit(r.sys.Out, d.diff)
	}
	findings := append(d.findings(), blocked...)
	if r.output.Value == "json" {
		return emitJSON(r.sys.Out, checkReport{
			Plan: d.plan.Effects, Findings: append(findings[:0:0], findings.Sorted()...),
			Errors: len(findings.Errors()), Warnings: len(findings.Warnings()),
		})
	}
	return emitFindings(r.sys, r.output.Value, r.version, findings)
}

// unit is what changes are counted in.
func (g *goldenFiles) unit() string {
	if g.file {
		return "object"
	}
	return "file"
}

// verdict says what --update would do.
func (g *goldenFiles) verdict(d *drift) string {
	if why := g.unwritable(); why != "" {
		return "--update refuses: " + why
	}
	left := 0
	for _, c := range d.changes {
		if c.foreign && c.rendered == nil {
			left++
		}
	}
	verdict := "--update accepts"
	if len(d.plan.Blocked()) > 0 {
		verdict = "--update refuses what a running cluster cannot follow, --update --force accepts"
	}
	if left > 0 {
		verdict += fmt.Sprintf(", and leaves %s that valkey-render did not write", count(left, "file"))
	}
	if stale := len(g.tree.Stale(g.names())); !g.file && outdir.Astray(stale, len(g.tree.Files)) {
		verdict += fmt.Sprintf(" and removes %d of %d files: is it the directory of another build?", stale, len(g.tree.Files))
	}
	return verdict
}
