// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/cmd/internal/cli"
	"github.com/valkey-render/valkey-render/cmd/valkey-render/internal/system"
)

// build is what is known about this binary.
type build struct {
	Version   string   `json:"version"`
	Commit    string   `json:"commit,omitempty"`
	Date      string   `json:"date,omitempty"`
	Modified  bool     `json:"modified,omitempty"`
	GoVersion string   `json:"goVersion"`
	Platform  string   `json:"platform"`
	Valkey    []string `json:"valkey"`
}

type versionRunner struct {
	sys    system.System
	output cli.Choice
	build  build
}

func newVersion(sys system.System, version string) *cobra.Command {
	r := &versionRunner{sys: sys, output: cli.NewChoice("text", "json"), build: describeBuild(version)}
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version of this program and the Valkey versions it renders",
		Example: `  valkey-render version
  valkey-render version --output json`,
		Args: noOperands,
		RunE: func(*cobra.Command, []string) error { return r.run() },
	}
	r.output.AddTo(cmd, "output", "o", "how to print it")
	return cmd
}

func (r *versionRunner) run() error {
	if r.output.Value == "json" {
		return emitJSON(r.sys.Out, r.build)
	}
	var text strings.Builder
	fmt.Fprintf(&text, "valkey-render %s", r.build.Version)
	if r.build.Commit != "" {
		fmt.Fprintf(&text, " (%s, %s)", r.build.Commit, r.build.Date)
	}
	fmt.Fprintf(&text, "\nValkey %s\n%s %s\n", strings.Join(r.build.Valkey, ", "), r.build.GoVersion, r.build.Platform)
	return emit(r.sys.Out, []byte(text.String()))
}

// describeBuild prefers the release's version, then what `go install` or the
// version control system left in the binary.
func describeBuild(version string) build {
	b := build{
		Version:   cli.Version(version),
		GoVersion: runtime.Version(),
		Platform:  runtime.GOOS + "/" + runtime.GOARCH,
		Valkey:    v1alpha1.Versions(),
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Date = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}
