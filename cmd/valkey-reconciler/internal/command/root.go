// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	goflag "flag"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/valkey-render/valkey-render/cmd/internal/cli"
	"github.com/valkey-render/valkey-render/render/job"
)

// System is what the command may use of the machine.
type System struct {
	Out, Err io.Writer
	Getenv   func(string) string
	Hostname func() (string, error)
	ReadFile func(string) ([]byte, error)
	// Random is where passwords come from.
	Random io.Reader
	Clock  clock.WithTicker
}

// program is its name in messages.
const program = "valkey-reconciler"

const rootLong = `valkey-reconciler watches the ValkeyClusters of a Kubernetes cluster, what was
rendered for them, and their pods. It writes their status, makes their Secrets,
starts the Jobs that form, repair, scale and reconfigure them, and replaces pods
in order. Each of these it does from what it sees: it can be stopped and started
at any time, and while it is stopped the servers go on.

Exit codes: 0 told to stop; 1 something failed for good, or another one leads;
2 wrong usage.`

// Main runs the command line until it is done or the process is told to stop, and returns
// the exit code. version is the release's, "" for other builds.
func Main(sys System, version string, args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	root := NewRoot(sys, version)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	cli.Report(sys.Err, program, err)
	if err == nil {
		return 0
	}
	if _, ok := errors.AsType[*cli.UsageError](err); ok {
		return 2
	}
	return 1
}

// NewRoot is the command.
func NewRoot(sys System, version string) *cobra.Command {
	r := &runner{sys: sys, version: cli.Version(version)}
	root := &cobra.Command{
		Use:           program,
		Short:         "Watch ValkeyClusters, and do what they need",
		Long:          rootLong,
		Example:       "  valkey-reconciler --namespaces shop,billing --leader-elect",
		Args:          cli.NoOperands,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := r.check(cmd); err != nil {
				return err
			}
			return r.run(cmd.Context())
		},
	}
	root.Version = r.version
	root.SetVersionTemplate(program + " {{.Version}}\n")
	root.SetOut(sys.Out)
	root.SetErr(sys.Err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return &cli.UsageError{Command: cmd.CommandPath(), Err: err}
	})
	r.addTo(root)
	return root
}

func (r *runner) addTo(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&r.metricsAddress, "metrics-bind-address", "0", "`address` of the metrics, such as :8443; 0 serves none")
	flags.BoolVar(&r.metricsSecure, "metrics-secure", true, "serve metrics over TLS, to those who may get the path /metrics")
	flags.StringVar(&r.metricsCertPath, "metrics-cert-path", "", "`directory` with the certificate of the metrics (default: one made at the start)")
	flags.StringVar(&r.metricsCertName, "metrics-cert-name", "tls.crt", "`file` with the certificate, in that directory")
	flags.StringVar(&r.metricsCertKey, "metrics-cert-key", "tls.key", "`file` with its key, in that directory")
	flags.StringVar(&r.probeAddress, "health-probe-bind-address", ":8081", "`address` of /healthz and /readyz; 0 serves none")
	flags.BoolVar(&r.leaderElect, "leader-elect", false, "work only while holding the Lease, so that several may run")
	flags.BoolVar(&r.http2, "enable-http2", false, "serve metrics over HTTP/2 too")
	flags.StringSliceVar(&r.namespaces, "namespaces", nil, "`namespaces` to watch (default WATCH_NAMESPACE, else all)")
	flags.StringVar(&r.shardSelector, "shard-selector", "", "`selector` of the labels of the ValkeyClusters to work for; several reconcilers share a fleet by it")
	flags.IntVar(&r.concurrency, "max-concurrent-reconciles", 1, "how many ValkeyClusters are looked at at once")
	flags.DurationVar(&r.resync, "resync", defaultResync, "look at a ValkeyCluster again after this time when nothing happens")
	flags.StringVar(&r.jobImage, "job-image", job.Image(r.version), "`image` of the programs in Jobs")
	flags.StringVar(&r.applyAccount, "apply-account", "valkey-reconciler-apply", "`ServiceAccount`, in this namespace, of the Jobs that apply what delivery: InCluster asks for")
	r.connection.AddTo(cmd)
	zapFlags := goflag.NewFlagSet(program, goflag.ContinueOnError)
	r.log = zap.Options{DestWriter: r.sys.Err}
	r.log.BindFlags(zapFlags)
	flags.AddGoFlagSet(zapFlags)
}

// check is what is wrong with the flags.
func (r *runner) check(cmd *cobra.Command) error {
	switch {
	case r.concurrency < 1:
		return cli.Usage(cmd, "--max-concurrent-reconciles %d: must be 1 or more", r.concurrency)
	case r.resync <= 0:
		return cli.Usage(cmd, "--resync %s: must be more than 0", r.resync)
	}
	if _, err := labels.Parse(r.shardSelector); err != nil {
		return cli.Usage(cmd, "--shard-selector: %v", err)
	}
	return nil
}
