// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/valkey-render/valkey-render/cmd/valkey-render/internal/difference"
	"github.com/valkey-render/valkey-render/cmd/valkey-render/internal/system"
	"github.com/valkey-render/valkey-render/render/finding"
)

const checkLong = `Compare what the specs render to with what is committed, and print the
difference: a unified diff that leads from the committed files to the rendered
ones, or with --output findings for code review tools.

GOLDEN is a directory as build --output-dir writes it, or a file as build writes
it to standard output. In a directory, missing files and files that are no
longer rendered are differences too; files that others wrote there are not.
With --update GOLDEN becomes what is rendered, and a path that does not exist is
created: a file when it ends in .yaml or .yml.

Exit codes: 0 no difference, 1 differences, 2 wrong input or usage.
` + inputHelp

type checkRunner struct {
	sys    system.System
	input  input
	output choice
	update bool
	// version is the program's, for SARIF.
	version string
}

func newCheck(sys system.System, version string) *cobra.Command {
	r := &checkRunner{sys: sys, version: version, output: newChoice("diff", "text", "json", "sarif", "github")}
	cmd := &cobra.Command{
		Use:   "check (-f FILE | -k DIR)... GOLDEN",
		Short: "Compare a rendering with the committed one",
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
			return &usageError{cmd.CommandPath(), err}
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := r.input.require(cmd); err != nil {
				return err
			}
			if err := r.input.refuseOverlap(cmd, r.sys, args[0]); err != nil {
				return err
			}
			return r.run(cmd.Context(), filepath.Clean(args[0]))
		},
	}
	r.input.addTo(cmd)
	r.output.addTo(cmd, "output", "o", "how to print differences")
	cmd.Flags().BoolVar(&r.update, "update", false, "make GOLDEN what is rendered")
	return cmd
}

func (r *checkRunner) run(ctx context.Context, path string) error {
	objects, err := r.input.objects(ctx, r.sys)
	if err != nil {
		return err
	}
	g, err := openGolden(r.sys.Files, path, objects, r.update)
	if err != nil {
		return subject(path, err)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if r.update {
		return g.update(r.sys)
	}
	for _, renamed := range difference.FindRenamed(g.committed) {
		fmt.Fprintf(r.sys.Err, "%s: %s\n", path, renamed)
	}
	drift := difference.Compare(g.committed, g.rendered)
	if err := r.print(g, drift); err != nil {
		return err
	}
	if drift.Equal() {
		return nil
	}
	fmt.Fprintf(r.sys.Err, "%s: %s; --update accepts\n", path, drift.Summary())
	return errDifferences
}

// print writes the differences in the form that was asked for.
func (r *checkRunner) print(g *goldenFiles, drift difference.Result) error {
	if r.output.value == "diff" {
		if len(drift.Diff) == 0 {
			return nil
		}
		return emit(r.sys.Out, drift.Diff)
	}
	var findings finding.List
	add := func(code finding.Code, names []string, message string) {
		for _, name := range names {
			f := finding.New(code, message)
			f.File = g.file(name)
			f.Line = difference.FirstDifference(g.committed[name], g.rendered[name])
			findings = append(findings, f)
		}
	}
	add(finding.GoldenDiffers, drift.Changed, "differs from what the specs render to")
	add(finding.GoldenMissing, drift.Missing, "is rendered and not committed")
	add(finding.GoldenExtra, drift.Extra, "is committed and no longer rendered")
	return emitFindings(r.sys, r.output.value, r.version, findings)
}
