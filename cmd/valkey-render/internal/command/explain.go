// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/valkey-render/valkey-render/cmd/valkey-render/internal/system"
	"github.com/valkey-render/valkey-render/internal/crdschema"
)

type explainRunner struct {
	sys       system.System
	recursive bool
}

func newExplain(sys system.System) *cobra.Command {
	r := &explainRunner{sys: sys}
	cmd := &cobra.Command{
		Use:   "explain [[KIND.]FIELD]",
		Short: "Explain a field of the API: type, default, allowed values, meaning",
		Long: `Explain a field as kubectl explain does, from the API that is built into this
program: no cluster is asked.

KIND is ValkeyCluster (vkc), ValkeyACL (vkacl) or ValkeyNode (vkn), and
ValkeyCluster when left out. FIELD is a path; "spec." may be left out and
indexes are ignored.`,
		Example: `  valkey-render explain
  valkey-render explain spec.storage
  valkey-render explain tls.clientAuth
  valkey-render explain vkacl.spec.users --recursive`,
		Args: atMost(1, "field"),
		RunE: func(_ *cobra.Command, args []string) error {
			return r.run(strings.Join(args, ""))
		},
		ValidArgsFunction: completeField,
	}
	cmd.Flags().BoolVar(&r.recursive, "recursive", false, "list all fields below, without descriptions")
	return cmd
}

func (r *explainRunner) run(path string) error {
	kinds, err := crdschema.Kinds()
	if err != nil {
		return err
	}
	place, err := crdschema.Find(kinds, path)
	if err != nil {
		return err
	}
	text := crdschema.Explain(place, r.recursive)
	if name, ok := strings.CutPrefix(place.Path, "spec.config."); ok {
		text += "\nSee 'valkey-render directives " + name + "'.\n"
	}
	if name, ok := strings.CutPrefix(place.Path, "spec.sentinel.config."); ok {
		text += "\nSee 'valkey-render directives --sentinel " + name + "'.\n"
	}
	return emit(r.sys.Out, []byte(text))
}

// completeField completes the next part of a path.
func completeField(_ *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective) {
	const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	kinds, err := crdschema.Kinds()
	if err != nil || len(args) > 0 {
		return nil, directive
	}
	var found []string
	for i, kind := range kinds {
		for _, path := range kind.Paths() {
			candidates := []string{kind.Names[0] + "." + path}
			if i == 0 {
				candidates = append(candidates, path)
			}
			for _, candidate := range candidates {
				// One part at a time: a thousand paths are no help.
				if rest, ok := strings.CutPrefix(candidate, start); ok && !strings.Contains(strings.TrimPrefix(rest, "."), ".") {
					found = append(found, candidate)
				}
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found), directive
}
