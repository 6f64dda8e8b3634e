// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/cmd/internal/cli"
	"github.com/valkey-render/valkey-render/cmd/valkey-render/internal/system"
	"github.com/valkey-render/valkey-render/internal/trial"
)

const tryLong = `Run a cluster on this machine: real valkey-server processes on loopback
addresses, started from what the spec renders to, by the same scripts, with the
same configuration, users and TLS. No Kubernetes, no root, no images. Linux
only.

Secrets and certificates that the spec refers to are made up. Servers come from
PATH or --server and must be of spec.version; --as-version tries the spec as if
it asked for another one. Pods have the rendered ports, each at an address of
its own in 127.0.0.0/8. Other containers than the server's are left out.

It runs until it is interrupted, and follows the input: live directives are set,
pods whose template changed are replaced with handover, replicas are added and
taken away. What would lose data is refused, and said.

With a command after -- it runs that, and ends with its exit status. The command
finds in its environment VALKEY_URL and, in parts, VALKEY_ADDRESSES,
VALKEY_TOPOLOGY, VALKEY_MASTER, VALKEY_USERNAME, VALKEY_PASSWORD,
VALKEY_PASSWORD_FILE, VALKEY_CA_FILE, VALKEY_CERT_FILE and VALKEY_KEY_FILE.

Everything is in a temporary directory and removed in the end. --dir keeps data,
passwords and logs in a directory that a later run goes on with.

Exit codes: 0 done, or interrupted while it ran; 1 the cluster did not come up;
2 wrong usage or input, or no servers; 124 --timeout ran out; with a command,
its own status.
` + inputHelp

type tryRunner struct {
	sys     system.System
	input   input
	output  cli.Choice
	server  string
	version string
	port    int32
	modules map[string]string
	dir     string
	once    bool
	command []string
	say     tryNarrator
}

func newTry(sys system.System) *cobra.Command {
	r := &tryRunner{sys: sys, output: cli.NewChoice("text", "json")}
	cmd := &cobra.Command{
		Use:   "try (-f FILE | -k DIR)... [-- COMMAND ARG...]",
		Short: "Run a cluster on this machine, without Kubernetes",
		Long:  tryLong,
		Example: `  valkey-render try -f cluster.yaml
  valkey-render try -f cluster.yaml --dir ~/try --server /opt/valkey-9.1/bin
  valkey-render try -f cluster.yaml -- go test ./...
  valkey-render try -f cluster.yaml -- sh -c 'valkey-cli -u "$VALKEY_URL" ping'`,
		Args: func(cmd *cobra.Command, args []string) error {
			operands := args
			if dash := cmd.ArgsLenAtDash(); dash >= 0 {
				operands = args[:dash]
			}
			return noOperands(cmd, operands)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			r.command = args
			if err := r.complete(cmd); err != nil {
				return err
			}
			return r.run(cmd.Context())
		},
	}
	r.input.addTo(cmd)
	r.output.AddTo(cmd, "output", "o", "how to print what happens: text, or one JSON object a line")
	flags := cmd.Flags()
	flags.StringVar(&r.server, "server", "", "`directory` with valkey-server and valkey-cli; PATH is searched without it")
	flags.StringVar(&r.version, "as-version", "", "try the spec as if spec.version were this `version`, such as 8.1")
	flags.Int32Var(&r.port, "port", 0, "`port` of the servers instead of the rendered one")
	flags.StringToStringVar(&r.modules, "module", nil, "file of a module, as `name=file`; repeatable")
	flags.StringVar(&r.dir, "dir", "", "`directory` to keep data, passwords and logs in")
	flags.BoolVar(&r.once, "once", false, "end as soon as the cluster is ready")
	// They fail only for a flag that does not exist.
	_ = cmd.MarkFlagDirname("server")
	_ = cmd.MarkFlagDirname("dir")
	_ = cmd.RegisterFlagCompletionFunc("as-version", cobra.FixedCompletions(v1alpha1.Versions(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// complete refuses flags that do not go together.
func (r *tryRunner) complete(cmd *cobra.Command) error {
	refuse := func(format string, args ...any) error {
		return &cli.UsageError{Command: cmd.CommandPath(), Err: fmt.Errorf(format, args...)}
	}
	switch {
	case r.once && len(r.command) > 0:
		return refuse("--once takes no command")
	case cmd.ArgsLenAtDash() >= 0 && len(r.command) == 0:
		return refuse("there is no command after --")
	case r.version != "" && !slices.Contains(v1alpha1.Versions(), r.version):
		return refuse("--as-version %s: must be one of %s", r.version, strings.Join(v1alpha1.Versions(), ", "))
	case cmd.Flags().Changed("port") && (r.port < 1024 || r.port > 55535):
		return refuse("--port %d: must be from 1024 to 55535: the cluster bus listens 10000 above it", r.port)
	case cmd.Flags().Changed("dir") && r.dir == "", cmd.Flags().Changed("server") && r.server == "":
		return refuse("--dir and --server must not be empty")
	}
	r.say = tryNarrator{sys: r.sys, json: r.output.Value == "json", aside: len(r.command) > 0}
	return r.input.require(cmd)
}

func (r *tryRunner) run(ctx context.Context) error {
	rendering, err := r.read(ctx)
	if err != nil {
		return err
	}
	programs, err := r.programs(ctx, rendering)
	if err != nil {
		return err
	}
	modules, err := r.moduleFiles()
	if err != nil {
		return err
	}
	dir, remove, err := r.directory()
	if err != nil {
		return err
	}
	defer remove()
	r.say.note(fmt.Sprintf("starting %s of %s with the servers in %s", tried(rendering), rendering.Cluster.ServerVersion(), programs))
	t, err := trial.Start(ctx, trial.Options{Dir: dir, Programs: programs, Modules: modules, OnNote: r.say.note}, rendering)
	if err != nil {
		return r.explain(ctx, err)
	}
	err = r.use(ctx, t)
	if closing := t.Close(r.dir != ""); err == nil && closing != nil {
		err = &outcomeError{closing}
	}
	r.say.stopped(r.dir)
	return errors.Join(err, r.say.err)
}

// use does what the cluster was started for.
func (r *tryRunner) use(ctx context.Context, t *trial.Trial) error {
	r.say.ready(ctx, t)
	switch {
	case len(r.command) > 0:
		return r.accompany(ctx, t)
	case r.once:
		return nil
	}
	r.say.howToEnd(r.input)
	r.follow(ctx, t)
	return nil
}

// accompany runs the command, and follows the input meanwhile.
func (r *tryRunner) accompany(ctx context.Context, t *trial.Trial) error {
	following, end := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.follow(following, t)
	}()
	status, err := t.Connection(ctx).Run(ctx, r.command, r.sys.In, r.sys.Out, r.sys.Err)
	end()
	<-done
	if err == nil && status != 0 {
		return &statusError{status}
	}
	return err
}

// programs finds the servers. What is wrong with them is no fault of the spec, but
// nothing can be tried.
func (r *tryRunner) programs(ctx context.Context, rendering trial.Rendering) (string, error) {
	version := rendering.Cluster.ServerVersion()
	programs, err := trial.FindPrograms(ctx, r.server, r.sys.Getenv("PATH"), version)
	if other, ok := errors.AsType[*trial.VersionError](err); ok && slices.Contains(v1alpha1.Versions(), other.Minor()) {
		return "", fmt.Errorf("%w: name the directory of a server of %s with --server, or try the spec as if it asked for %s with --as-version %s",
			err, version, other.Minor(), other.Minor())
	}
	return programs, err
}

// moduleFiles makes paths absolute, and refuses those of nothing.
func (r *tryRunner) moduleFiles() (map[string]string, error) {
	files := map[string]string{}
	for module, file := range r.modules {
		path, err := r.sys.Files.RealPath(file)
		if err != nil {
			return nil, subject("--module "+module, err)
		}
		files[module] = path
	}
	return files, nil
}

// directory is where everything is kept.
func (r *tryRunner) directory() (dir string, remove func(), err error) {
	if r.dir == "" {
		dir, err = os.MkdirTemp("", "try-")
		return dir, func() { _ = os.RemoveAll(dir) }, err
	}
	if err := r.sys.Files.MkdirAll(r.dir); err != nil {
		return "", nil, subject(r.dir, err)
	}
	dir, err = filepath.Abs(r.dir)
	return dir, func() {}, err
}
