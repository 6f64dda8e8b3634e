// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/valkey-render/valkey-render/cmd/internal/cli"
	"github.com/valkey-render/valkey-render/cmd/valkey-render/internal/system"
	"github.com/valkey-render/valkey-render/render/write"
)

const buildLong = `Render specs into the Kubernetes objects that run them, on standard output or
with --output-dir as one file per object. Findings go to standard error; while
one is an error nothing is written.
` + inputHelp + `

A directory of --output-dir belongs to one build: files that an earlier build
wrote there and this one does not are removed. They are known by their first
line; every other file is left alone, and one that is in the way is an error.

With --output krm it is a KRM function: a ResourceList is read from standard
input, its specs are replaced by what they render to, and the findings are its
results. A spec with the annotation config.kubernetes.io/local-config: "true"
is rendered like any other, and what it renders to does not have it: kustomize
would leave it out. To wire the function into a kustomization, list in
transformers a file with an object that has

  annotations:
    config.kubernetes.io/function: |
      exec: {path: valkey-render, args: [build, --output, krm]}`

type buildRunner struct {
	sys       system.System
	input     input
	output    cli.Choice
	outputDir string
}

func newBuild(sys system.System) *cobra.Command {
	r := &buildRunner{sys: sys, output: cli.NewChoice("yaml", "json", "krm")}
	cmd := &cobra.Command{
		Use:   "build (-f FILE | -k DIR)...",
		Short: "Render specs into Kubernetes manifests",
		Long:  buildLong,
		Example: `  valkey-render build -f cluster.yaml | kubectl apply --server-side -f -
  valkey-render build -f clusters/ -n shop --output-dir rendered/
  valkey-render build -k environments/prod --output-dir rendered/prod/
  valkey-render build --output krm < resourcelist.yaml`,
		Args: noOperands,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := r.complete(cmd); err != nil {
				return err
			}
			return r.run(cmd.Context())
		},
	}
	r.input.addTo(cmd)
	r.output.AddTo(cmd, "output", "o", "what to write")
	cmd.Flags().StringVarP(&r.outputDir, "output-dir", "d", "", "`directory` to keep one file per object in, instead of standard output")
	_ = cmd.MarkFlagDirname("output-dir")
	return cmd
}

// complete refuses flags that do not go together.
func (r *buildRunner) complete(cmd *cobra.Command) error {
	switch {
	case r.output.Value == "krm" && (r.input.given() || r.outputDir != ""):
		return &cli.UsageError{Command: cmd.CommandPath(), Err: errors.New("--output krm reads standard input and writes standard output: it takes no -f, -k or --output-dir")}
	case r.output.Value == "krm":
		return nil
	case r.outputDir != "" && r.output.Value != "yaml":
		return &cli.UsageError{Command: cmd.CommandPath(), Err: errors.New("--output-dir writes YAML: it takes no --output " + r.output.Value)}
	case cmd.Flags().Changed("output-dir") && r.outputDir == "":
		return &cli.UsageError{Command: cmd.CommandPath(), Err: errors.New("--output-dir is empty")}
	}
	if err := r.input.require(cmd); err != nil {
		return err
	}
	if r.outputDir != "" {
		return r.input.refuseOverlap(cmd, r.sys, r.outputDir)
	}
	return nil
}

func (r *buildRunner) run(ctx context.Context) error {
	if r.output.Value == "krm" {
		return r.function(ctx)
	}
	result, err := r.input.objects(ctx, r.sys)
	if err != nil {
		return err
	}
	if r.outputDir != "" {
		layout, err := write.Layout(result.Objects)
		if err != nil {
			return err
		}
		// Asked to stop, do not begin to write.
		if err := ctx.Err(); err != nil {
			return err
		}
		return keep(ctx, r.sys, r.outputDir, layout)
	}
	if r.output.Value == "yaml" {
		return stream(r.sys.Out, result.Objects)
	}
	data, err := list(result.Objects)
	if err != nil {
		return err
	}
	return emit(r.sys.Out, data)
}
