// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/valkey-render/valkey-render/cmd/internal/cli"
	"github.com/valkey-render/valkey-render/cmd/valkey-render/internal/system"
)

const validateLong = `Check specs as build does and print the findings, nothing else: as text, as
JSON, as SARIF 2.1.0 for code scanning, or as annotations of GitHub Actions.
docs/findings.md has a section for each code.

Exit codes: 0 no error (warnings are printed), 1 a warning with --fail-on
warning, 2 an error.
` + inputHelp

type validateRunner struct {
	sys    system.System
	input  input
	output cli.Choice
	failOn cli.Choice
	// version is the program's, for SARIF.
	version string
}

func newValidate(sys system.System, version string) *cobra.Command {
	r := &validateRunner{
		sys: sys, version: version,
		output: cli.NewChoice("text", "json", "sarif", "github"), failOn: cli.NewChoice("error", "warning"),
	}
	cmd := &cobra.Command{
		Use:   "validate (-f FILE | -k DIR)...",
		Short: "Check specs and print what is wrong with them",
		Long:  validateLong,
		Example: `  valkey-render validate -f clusters/ -R
  valkey-render validate -k environments/prod --fail-on warning
  valkey-render validate -f clusters/ --output sarif > findings.sarif`,
		Args: noOperands,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := r.input.require(cmd); err != nil {
				return err
			}
			return r.run(cmd.Context())
		},
	}
	r.input.addTo(cmd)
	r.output.AddTo(cmd, "output", "o", "how to print findings")
	r.failOn.AddTo(cmd, "fail-on", "", "least severity that fails the command")
	return cmd
}

func (r *validateRunner) run(ctx context.Context) error {
	result, err := r.input.render(ctx, r.sys)
	if err != nil {
		return err
	}
	if err := emitFindings(r.sys, r.output.Value, r.version, result.Findings); err != nil {
		return err
	}
	fmt.Fprintln(r.sys.Err, tally(result.Findings))
	switch {
	case result.Findings.HasErrors():
		return errFindings
	case len(result.Findings.Warnings()) > 0 && r.failOn.Value == "warning":
		return errDifferences
	}
	return nil
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
