// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/valkey-render/valkey-render/cmd/internal/cli"
	"github.com/valkey-render/valkey-render/cmd/valkey-render/internal/source"
	"github.com/valkey-render/valkey-render/cmd/valkey-render/internal/system"
	"github.com/valkey-render/valkey-render/render"
	"github.com/valkey-render/valkey-render/render/finding"
	"github.com/valkey-render/valkey-render/render/load"
)

// inputHelp is the part of a command's description that is about its input.
const inputHelp = `
Input is ValkeyCluster and ValkeyACL objects as YAML or JSON, from any number of
-f and -k. A directory gives its .yaml, .yml and .json files, those below only
with -R; hidden files and kustomization files are left out. -k builds a
kustomization as kustomize does, without plugins, helm and the network, and
takes the ValkeyCluster and ValkeyACL objects from it: environments are overlays
over specs, and a namePrefix belongs there, not on rendered manifests.`

// input are the flags that say what to render.
type input struct {
	files          []string
	kustomizations []string
	recursive      bool
	namespace      string
	ignoreOthers   bool
	jobImage       string
	// fallback is the namespace of what names none and was given none: that of the
	// kubeconfig's context, for commands that talk to a cluster.
	fallback string
}

func (in *input) addTo(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVarP(&in.files, "filename", "f", nil, "`file` or directory to read, - for standard input; repeatable")
	flags.StringArrayVarP(&in.kustomizations, "kustomize", "k", nil, "`directory` of a kustomization with specs; repeatable")
	flags.BoolVarP(&in.recursive, "recursive", "R", false, "read the directories below those of -f too")
	flags.StringVarP(&in.namespace, "namespace", "n", "", "namespace of objects that name none; one that names another is an error")
	flags.StringVar(&in.jobImage, "job-image", "", "`image` of the programs that Jobs run, instead of this release's (only with jobs: Rendered)")
	flags.BoolVar(&in.ignoreOthers, "ignore-other-kinds", false, "leave out objects of other kinds, with a warning, instead of refusing them")
	// It fails only for a flag that does not exist.
	_ = cmd.MarkFlagDirname("kustomize")
	_ = cmd.MarkFlagFilename("filename", "yaml", "yml", "json")
}

// given reports whether there is any input at all.
func (in *input) given() bool { return len(in.files)+len(in.kustomizations) > 0 }

// require is the error of a command without input.
func (in *input) require(cmd *cobra.Command) error {
	if in.given() {
		return nil
	}
	return &cli.UsageError{Command: cmd.CommandPath(), Err: errors.New("nothing to read: name a file or directory with -f, a kustomization with -k, or standard input with -f -")}
}

// render reads and renders the input. Findings are those of all stages; while
// one is an error there are no objects.
func (in *input) render(ctx context.Context, sys system.System) (rendering, error) {
	return await(ctx, func() (rendering, error) {
		sources, unread := source.Read(sys, source.Request{
			Files: in.files, Kustomizations: in.kustomizations, Recursive: in.recursive,
		})
		opts := load.Options{Namespace: in.namespace, AllowEmpty: unread.HasErrors()}
		if in.ignoreOthers {
			opts.Foreign = load.ForeignIgnore
		}
		return renderSources(sources, unread, opts, in.fallback, cmp.Or(in.jobImage, sys.JobImage)), nil
	})
}

// objects renders the input and says what was found; errFindings when that holds
// an error.
func (in *input) objects(ctx context.Context, sys system.System) (rendering, error) {
	result, err := in.render(ctx, sys)
	if err != nil {
		return rendering{}, err
	}
	say(sys, result.Findings)
	if result.Findings.HasErrors() {
		fmt.Fprintf(sys.Err, "%s; nothing was rendered\n", tally(result.Findings))
		return rendering{}, errFindings
	}
	return result, nil
}

// tally counts findings.
func tally(findings finding.List) string {
	return count(len(findings.Errors()), "error") + ", " + count(len(findings.Warnings()), "warning")
}

// rendering is what became of the input, and the specs that were read.
type rendering struct {
	render.Result
	set load.Set
}

// renderSources renders what was read; before are the findings of reading it, and
// fallback is the namespace of objects that have none, jobImage the image of Jobs.
func renderSources(sources []load.Source, before finding.List, opts load.Options, fallback, jobImage string) rendering {
	set, parsed := load.Parse(sources, opts)
	for _, c := range set.Clusters {
		c.Object.Namespace = cmp.Or(c.Object.Namespace, fallback)
	}
	for _, a := range set.ACLs {
		a.Object.Namespace = cmp.Or(a.Object.Namespace, fallback)
	}
	findings := append(before, parsed...)
	// What could be read is checked even if not all could: all errors at once.
	result := render.Build(set, render.Options{JobImage: jobImage})
	if findings.HasErrors() {
		result.Objects = nil
	}
	result.Findings = append(findings, result.Findings...).Sorted()
	return rendering{result, set}
}

// holds reports which -f, if any, would read what is written to path.
func (in *input) holds(files system.Files, path string) (string, bool) {
	target, err := files.RealPath(path)
	if err != nil {
		// What does not exist yet lies where its parent does.
		parent, err := files.RealPath(filepath.Dir(filepath.Clean(path)))
		if err != nil {
			return "", false
		}
		target = filepath.Join(parent, filepath.Base(path))
	}
	for _, name := range in.files {
		from, err := files.RealPath(name)
		if name == "-" || err != nil {
			continue
		}
		below := strings.HasPrefix(target, from+string(filepath.Separator))
		if target == from || below && (in.recursive || filepath.Dir(target) == from && filepath.Ext(target) != "") {
			return name, true
		}
	}
	return "", false
}

// refuseOverlap is the error of writing where the input is read from.
func (in *input) refuseOverlap(cmd *cobra.Command, sys system.System, path string) error {
	if name, ok := in.holds(sys.Files, path); ok {
		return &cli.UsageError{Command: cmd.CommandPath(), Err: fmt.Errorf("%s: is read as input by -f %s: specs and what is rendered from them belong in different directories", path, name)}
	}
	return nil
}

// say writes findings to standard error.
func say(sys system.System, findings finding.List) {
	// Nothing can be said about a standard error that cannot be written.
	_, _ = sys.Err.Write(findings.Text())
}
