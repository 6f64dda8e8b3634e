// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/valkey-render/valkey-render/cmd/valkey-render/internal/crdschema"
	"github.com/valkey-render/valkey-render/cmd/valkey-render/internal/system"
)

type schemaRunner struct {
	sys  system.System
	kind choice
}

func newSchema(sys system.System) *cobra.Command {
	r := &schemaRunner{sys: sys, kind: newChoice("all", "ValkeyCluster", "ValkeyACL")}
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
		RunE: func(*cobra.Command, []string) error { return r.run() },
	}
	r.kind.addTo(cmd, "kind", "", "kind to describe")
	return cmd
}

func (r *schemaRunner) run() error {
	kinds, err := crdschema.Kinds()
	if err != nil {
		return err
	}
	// Nobody writes a ValkeyNode: the reconciler does.
	kinds = slices.DeleteFunc(kinds, func(k crdschema.Kind) bool {
		return k.Name != r.kind.value && (r.kind.value != "all" || k.Name == "ValkeyNode")
	})
	schema, err := crdschema.JSONSchema(kinds, directiveHints())
	if err != nil {
		return err
	}
	return emit(r.sys.Out, schema)
}
