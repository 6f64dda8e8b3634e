// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/valkey-render/valkey-render/cmd/internal/cli"
	"github.com/valkey-render/valkey-render/cmd/valkey-render/internal/system"
	"github.com/valkey-render/valkey-render/internal/crdschema"
)

type schemaRunner struct {
	sys  system.System
	kind string
}

func newSchema(sys system.System) *cobra.Command {
	r := &schemaRunner{sys: sys}
	cmd := &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of specs, for editors",
		Long: `Print a JSON Schema (draft-07) of the files that build reads. It knows every
field with its description, type, default and allowed values, and refuses
unknown fields. It does not know rules that span fields, nor directives by
version: validate does.`,
		Example: `  valkey-render schema > valkey-render.schema.json

  # In a spec, for editors with a YAML language server
  # yaml-language-server: $schema=valkey-render.schema.json`,
		Args: noOperands,
		RunE: func(cmd *cobra.Command, _ []string) error { return r.run(cmd) },
	}
	cmd.Flags().StringVar(&r.kind, "kind", "all", "`kind` to describe: all, ValkeyCluster (vkc) or ValkeyACL (vkacl), in any case")
	// It fails only for a flag that does not exist.
	_ = cmd.RegisterFlagCompletionFunc("kind", cobra.FixedCompletions([]string{"all", "ValkeyCluster", "ValkeyACL"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (r *schemaRunner) run(cmd *cobra.Command) error {
	kinds, err := crdschema.Kinds()
	if err != nil {
		return err
	}
	// Nobody writes a ValkeyNode: the reconciler does.
	kinds = slices.DeleteFunc(kinds, func(k crdschema.Kind) bool {
		return k.Name == "ValkeyNode" || !k.Is(r.kind) && !strings.EqualFold(r.kind, "all")
	})
	if len(kinds) == 0 {
		return &cli.UsageError{Command: cmd.CommandPath(), Err: fmt.Errorf("--kind %q: must be one of all, ValkeyCluster, ValkeyACL", r.kind)}
	}
	schema, err := crdschema.JSONSchema(kinds, directiveHints())
	if err != nil {
		return err
	}
	return emit(r.sys.Out, schema)
}
