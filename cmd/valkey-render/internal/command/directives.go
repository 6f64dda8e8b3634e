// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/cmd/internal/cli"
	"github.com/valkey-render/valkey-render/cmd/valkey-render/internal/system"
	"github.com/valkey-render/valkey-render/render/directive"
)

const directivesLong = `List the directives of valkey.conf that a Valkey version has: type, default,
values, and whether a change applies live or restarts pods. The default is the
server's own; where build writes another value unless spec.config has one, the
remark says "set to". What spec.config does not take is reserved, with the
reason. Rows are cut at the width of the terminal, or at 120 columns; -o json
and -o yaml have everything.

PATTERN is a name, in any case and also an old one, a part of names, or a glob
such as "repl-*". A single directive is shown in full.`

type directivesRunner struct {
	sys     system.System
	version cli.Choice
	class   cli.Choice
	output  cli.Choice
	// sentinel lists those of sentinel.conf, for spec.sentinel.config.
	sentinel bool
}

func newDirectives(sys system.System) *cobra.Command {
	versions := v1alpha1.Versions()
	slices.Reverse(versions)
	r := &directivesRunner{
		sys: sys, version: cli.NewChoice(versions...), output: cli.NewChoice("table", "json", "yaml"),
		class: cli.NewChoice("any", string(directive.Live), string(directive.Restart), "reserved"),
	}
	cmd := &cobra.Command{
		Use:   "directives [PATTERN]",
		Short: "List the directives that spec.config takes",
		Long:  directivesLong,
		Example: `  valkey-render directives maxmemory-policy
  valkey-render directives "repl-*" --version 8.1
  valkey-render directives --class live --output json
  valkey-render directives --sentinel`,
		Args: atMost(1, "pattern"),
		RunE: func(_ *cobra.Command, args []string) error {
			return r.run(strings.ToLower(strings.Join(args, "")))
		},
		ValidArgsFunction: r.complete,
	}
	r.version.AddTo(cmd, "version", "", "Valkey version")
	r.class.AddTo(cmd, "class", "", "only those that apply live, that need a restart, or that are reserved")
	r.output.AddTo(cmd, "output", "o", "how to print them")
	cmd.Flags().BoolVar(&r.sentinel, "sentinel", false, "those of sentinel.conf, for spec.sentinel.config")
	return cmd
}

func (r *directivesRunner) run(pattern string) error {
	found, err := r.source().matching(pattern)
	if err != nil {
		return err
	}
	found = slices.DeleteFunc(found, func(d directive.Directive) bool { return !r.wanted(d) })
	if len(found) == 0 {
		return fmt.Errorf("no directive of class %s matches %q in Valkey %s", r.class.Value, pattern, r.version.Value)
	}
	switch r.output.Value {
	case "json":
		return emitJSON(r.sys.Out, described(found))
	case "yaml":
		text, err := yaml.Marshal(described(found))
		if err != nil {
			return fmt.Errorf("encode YAML: %w", err)
		}
		return emit(r.sys.Out, text)
	}
	if len(found) == 1 && pattern != "" {
		return emit(r.sys.Out, detail(found[0], r.version.Value, r.sentinel, r.ours()))
	}
	return emit(r.sys.Out, table(found, r.sentinel, r.ours(), r.sys.Width()))
}

// ours are the values that build gives by itself.
func (r *directivesRunner) ours() map[string]string {
	if r.sentinel {
		return nil
	}
	return renderedValues(r.version.Value)
}

func (r *directivesRunner) source() directiveSource {
	if r.sentinel {
		return sentinelDirectives(r.version.Value)
	}
	return serverDirectives(r.version.Value)
}

func (r *directivesRunner) wanted(d directive.Directive) bool {
	switch r.class.Value {
	case "any":
		return true
	case "reserved":
		return d.Reserved != ""
	default:
		return d.Reserved == "" && string(d.Class) == r.class.Value
	}
}

func (r *directivesRunner) complete(_ *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective) {
	var names []string
	if len(args) == 0 {
		for _, d := range r.source().all {
			if strings.HasPrefix(d.Name, strings.ToLower(start)) {
				names = append(names, d.Name)
			}
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
