// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"strings"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/cmd/internal/cli"
	"github.com/valkey-render/valkey-render/topologyjob/job"
	"github.com/valkey-render/valkey-render/topologyjob/metric"
	"github.com/valkey-render/valkey-render/topologyjob/reconciler"
)

const defaultResync = 30 * time.Second

// Variables of the environment.
const (
	envNamespaces = "WATCH_NAMESPACE"
	envNamespace  = "POD_NAMESPACE"
)

// runner holds the flags.
type runner struct {
	sys     System
	version string

	connection      cli.Connection
	metricsAddress  string
	metricsSecure   bool
	metricsCertPath string
	metricsCertName string
	metricsCertKey  string
	probeAddress    string
	leaderElect     bool
	http2           bool
	namespaces      []string
	shardSelector   string
	concurrency     int
	resync          time.Duration
	jobImage        string
	applyAccount    string
	log             zap.Options
}

// run works until ctx ends.
func (r *runner) run(ctx context.Context) error {
	logger := zap.New(zap.UseFlagOptions(&r.log))
	ctrl.SetLogger(logger)
	klog.SetLogger(logger)
	config, namespace, err := r.connection.Load(r.sys.Getenv, r.sys.ReadFile)
	if err != nil {
		return err
	}
	namespace = cmp.Or(r.sys.Getenv(envNamespace), namespace)
	config.UserAgent = program + "/" + r.version
	config.QPS, config.Burst = clientQPS, clientBurst
	host, err := r.sys.Hostname()
	if err != nil {
		return fmt.Errorf("host name: %w", err)
	}
	scope := reconciler.Scope{Namespaces: r.watchedNamespaces(), Own: namespace, Shard: r.shardSelector}
	m, err := r.manager(config, scope, host)
	if err != nil {
		return err
	}
	set := metric.New(r.version)
	if err := set.Register(metrics.Registry); err != nil {
		return fmt.Errorf("metrics: %w", err)
	}
	if !r.leaderElect {
		beat := &reconciler.Heartbeat{Live: m.GetAPIReader(), Client: m.GetClient(), Scope: scope, Identity: host, Clock: r.sys.Clock}
		if err := m.Add(beat); err != nil {
			return err
		}
	}
	if err := r.add(ctx, m, scope, set); err != nil {
		return err
	}
	return m.Start(ctx)
}

// What the client asks of the API server at most, each second: a fleet of hundreds that is
// made at once is limited by it.
const (
	clientQPS   = 200
	clientBurst = 400
)

// watchedNamespaces are those of the flag, else of the environment.
func (r *runner) watchedNamespaces() []string {
	if len(r.namespaces) > 0 {
		return r.namespaces
	}
	return strings.FieldsFunc(r.sys.Getenv(envNamespaces), func(c rune) bool { return c == ',' || c == ' ' })
}

func (r *runner) manager(config *rest.Config, scope reconciler.Scope, host string) (manager.Manager, error) {
	scheme, err := reconciler.Scheme()
	if err != nil {
		return nil, err
	}
	cache, err := scope.Cache()
	if err != nil {
		return nil, err
	}
	serve := server.Options{
		BindAddress: r.metricsAddress, SecureServing: r.metricsSecure,
		CertDir: r.metricsCertPath, CertName: r.metricsCertName, KeyName: r.metricsCertKey,
	}
	if r.metricsSecure {
		serve.FilterProvider = filters.WithAuthenticationAndAuthorization
	}
	if !r.http2 {
		serve.TLSOpts = append(serve.TLSOpts, func(c *tls.Config) { c.NextProtos = []string{"http/1.1"} })
	}
	election, err := reconciler.Election(config, scope, host)
	if err != nil {
		return nil, err
	}
	m, err := manager.New(config, manager.Options{
		Scheme: scheme, Cache: cache, Metrics: serve, HealthProbeBindAddress: r.probeAddress,
		LeaderElection: r.leaderElect, LeaderElectionResourceLockInterface: election, LeaderElectionReleaseOnCancel: true,
	})
	if err != nil {
		return nil, fmt.Errorf("manager: %w", err)
	}
	return m, nil
}

// add adds everything that runs to the manager.
func (r *runner) add(ctx context.Context, m manager.Manager, scope reconciler.Scope, set *metric.Set) error {
	if err := m.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return err
	}
	if err := m.AddReadyzCheck("ping", healthz.Ping); err != nil {
		return err
	}
	work := &reconciler.Reconciler{
		Client: m.GetClient(), Live: m.GetAPIReader(), Surveyor: reconciler.NewServers(), Exporters: reconciler.NewExporters(),
		Events: m.GetEventRecorder(v1alpha1.ClusterReporter), NodeEvents: m.GetEventRecorder(v1alpha1.NodeReporter),
		Metrics: set, Clock: r.sys.Clock, Random: r.sys.Random, JobImage: r.jobImage, Resync: r.resync, Ended: reconciler.NewEnded(r.sys.Clock), Refused: reconciler.NewRefused(),
		Place: job.Place{Namespace: scope.Own, Account: r.applyAccount}, Scope: scope,
		Orphans: reconciler.NewOrphans(r.sys.Clock, reconciler.OrphanGrace),
	}
	if len(r.watchedNamespaces()) == 0 {
		// Policies are in no namespace: who looks after some has no right to read them.
		work.Guarded = reconciler.NewGuarded(m.GetAPIReader(), r.sys.Clock)
	}
	return work.Setup(ctx, m, r.concurrency)
}
