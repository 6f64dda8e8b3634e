// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/cmd/valkey-topology/internal/argument"
	"github.com/valkey-render/valkey-render/render/job"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/acl"
	"github.com/valkey-render/valkey-render/topologyjob/client"
	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/outcome"
	"github.com/valkey-render/valkey-render/topologyjob/plan"
	"github.com/valkey-render/valkey-render/topologyjob/setting"
	"github.com/valkey-render/valkey-render/topologyjob/settle"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// settings are the flags of the kinds that set something on servers that run.
type settings struct {
	liveDir    string
	aclDir     string
	systemDir  string
	clientKill bool
}

func (s *settings) addTo(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&s.liveDir, "live-dir", job.LiveDir, "`directory` with the live files, as ConfigMap <cluster>-live has them")
	flags.StringVar(&s.aclDir, "acl-dir", job.ACLDir, "`directory` with the ACL files, as Secret <cluster>-acl has them")
	flags.StringVar(&s.systemDir, "system-dir", job.SystemDir, "`directory` with the passwords of the system users, as Secret <cluster>-system has them")
	flags.BoolVar(&s.clientKill, "client-kill", false, "end the connections of users that lose a password or may log in no more")
	for _, dir := range []string{"live-dir", "acl-dir", "system-dir"} {
		_ = cmd.MarkFlagDirname(dir)
	}
}

// setter does one kind of setting.
type setter func(ctx context.Context, r *runner, o settle.Options) (settle.Report, error)

// sets makes the work of a kind that sets something.
func sets(do setter) func(context.Context, *runner) (done, error) {
	return func(ctx context.Context, r *runner) (done, error) {
		o, err := r.settleOptions()
		if err != nil {
			return done{}, err
		}
		defer o.Pool.Close()
		report, err := do(ctx, r, o)
		if err != nil {
			return done{}, &verdict{outcome.BadInput, "InputInvalid", err}
		}
		d := done{message: report.Message, counts: report.Counts, fingerprint: report.Fingerprint}
		if report.Result == outcome.Converged {
			return d, nil
		}
		return d, &verdict{report.Result, report.Reason, errors.New(report.Message)}
	}
}

// settleOptions reads the flags, and the spec where there is one.
func (r *runner) settleOptions() (settle.Options, error) {
	var c *v1alpha1.ValkeyCluster
	if len(r.specs.files) > 0 {
		var err error
		if c, _, err = r.specs.read(r.sys.Files, r.sys.Getenv(podNamespace)); err != nil {
			return settle.Options{}, err
		}
	}
	pods, err := r.settlePods(c)
	dialer, dialErr := r.target.dialer(r.sys.Files)
	if err := errors.Join(err, dialErr); err != nil {
		return settle.Options{}, &verdict{outcome.BadInput, "InputInvalid", err}
	}
	return settle.Options{
		Pods: pods, Pool: node.NewPool(dialer), Resolve: client.NewNames(net.DefaultResolver, r.sys.Clock.Now).Resolve, Clock: sleeper{r.sys.Clock},
		DryRun: r.dryRun, Wait: r.deadline > 0,
		OnStep: func(text string) { fmt.Fprintln(r.sys.Err, text) },
	}, nil
}

// settlePods are the data pods, then the sentinels.
func (r *runner) settlePods(c *v1alpha1.ValkeyCluster) ([]settle.Pod, error) {
	d := plan.Desired{}
	if c != nil {
		d.Shards, d.Replicas = c.ShardCount(), c.ReplicaCount()
	}
	data, err := r.target.places(c, d)
	sentinels, sentinelErr := sentinelsToSet(r.target.replication.sentinels, c)
	var pods []settle.Pod
	for _, p := range data {
		pods = append(pods, settle.Pod{Name: p.Name, Host: p.Host, Port: p.Port, ServerName: p.ServerName, Stopped: p.Runs == survey.Stopped})
	}
	return append(pods, sentinels...), errors.Join(err, sentinelErr)
}

// sentinelsToSet are the Sentinel pods of the flags, else those of the spec.
func sentinelsToSet(flags []string, c *v1alpha1.ValkeyCluster) ([]settle.Pod, error) {
	var pods []settle.Pod
	var problems []error
	for _, flag := range flags {
		pod, err := parseSentinel(flag)
		if err == nil && slices.ContainsFunc(pods, func(p settle.Pod) bool { return p.Name == pod.Name }) {
			err = errors.New("the pod is there twice")
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("--sentinel %q: %w", flag, err))
			continue
		}
		if c != nil {
			pod.ServerName = pod.Name + "." + name.ServiceFQDN(name.Sentinel(c.Name), c.Namespace, c.ClusterDomain())
		}
		pods = append(pods, pod)
	}
	if len(flags) > 0 || c == nil || !c.IsSentinel() {
		return pods, errors.Join(problems...)
	}
	for i := range c.SentinelReplicas() {
		host := name.SentinelFQDN(c.Name, i, c.Namespace, c.ClusterDomain())
		pods = append(pods, settle.Pod{
			Name: name.SentinelPod(c.Name, i), Host: host + ".", Port: v1alpha1.SentinelPort, ServerName: host, Sentinel: true,
		})
	}
	return pods, nil
}

// parseSentinel reads one --sentinel flag: a --pod flag whose name has no shard.
func parseSentinel(flag string) (settle.Pod, error) {
	podName, rest, found := strings.Cut(flag, "=")
	if !found || podName == "" {
		return settle.Pod{}, errors.New("not NAME=HOST")
	}
	pod, err := argument.Pod("s-0-0="+rest, v1alpha1.SentinelPort)
	if err != nil {
		return settle.Pod{}, err
	}
	return settle.Pod{Name: podName, Host: pod.Host, Port: pod.Port, Sentinel: true, Stopped: pod.Runs == survey.Stopped}, nil
}

// liveconfig sets the live directives. Files are there for every version; one of a
// version that this program does not know is no matter.
func liveconfig(ctx context.Context, r *runner, o settle.Options) (settle.Report, error) {
	files := map[string]map[string]string{}
	var problems []error
	for _, version := range v1alpha1.Versions() {
		file := path.Join(r.settings.liveDir, setting.LiveFile(version))
		if !r.sys.Files.Exists(file) {
			continue
		}
		data, err := r.sys.Files.ReadFile(file)
		if err == nil {
			files[version], err = setting.ParseLive(version, string(data))
		}
		problems = append(problems, err)
	}
	if err := errors.Join(problems...); err != nil {
		return settle.Report{}, err
	}
	if len(files) == 0 {
		return settle.Report{}, fmt.Errorf("--live-dir %s: no live file in it", r.settings.liveDir)
	}
	return settle.Live(ctx, o, files), nil
}

// users sets the users.
func users(ctx context.Context, r *runner, o settle.Options) (settle.Report, error) {
	wanted, err := r.wantedUsers()
	if err != nil {
		return settle.Report{}, err
	}
	return settle.ACL(ctx, o, wanted), nil
}

// wantedUsers reads the ACL files.
func (r *runner) wantedUsers() (settle.Users, error) {
	dialer, err := r.target.dialer(r.sys.Files)
	wanted := settle.Users{Data: map[string][]acl.User{}, Sentinel: map[string][]acl.User{}, Login: dialer.Login, ClientKill: r.settings.clientKill}
	problems := []error{err}
	read := func(version, key string, into map[string][]acl.User) {
		file := path.Join(r.settings.aclDir, key)
		if !r.sys.Files.Exists(file) {
			return
		}
		data, err := r.sys.Files.ReadFile(file)
		if err == nil {
			into[version], err = setting.ParseUsers(string(data))
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", key, err))
		}
	}
	for _, version := range v1alpha1.Versions() {
		read(version, acl.FileKey(version), wanted.Data)
		read(version, acl.SentinelFileKey(version), wanted.Sentinel)
	}
	if len(wanted.Data) == 0 {
		problems = append(problems, fmt.Errorf("--acl-dir %s: no ACL file in it", r.settings.aclDir))
	}
	return wanted, errors.Join(problems...)
}

// certificates has servers read their certificate again. One that must not be served is
// told before anybody is asked.
func certificates(ctx context.Context, r *runner) (done, error) {
	t := &r.target
	if t.ca == "" || t.cert == "" || t.key == "" {
		return done{}, &verdict{outcome.BadInput, "InputInvalid", errors.New("--tls-ca, --tls-cert and --tls-key: name the files of the certificate")}
	}
	var files [3][]byte
	for i, file := range []string{t.ca, t.cert, t.key} {
		data, err := r.sys.Files.ReadFile(file)
		if err != nil {
			return done{}, &verdict{outcome.BadInput, "InputInvalid", err}
		}
		files[i] = data
	}
	wanted, err := setting.ParseCertificate(files[0], files[1], files[2], r.sys.Clock.Now())
	if flaw, wrong := errors.AsType[*setting.FlawError](err); wrong {
		return done{}, &verdict{outcome.Blocked, string(flaw.Flaw), err}
	}
	if err != nil {
		return done{}, err
	}
	return sets(func(ctx context.Context, r *runner, o settle.Options) (settle.Report, error) {
		dialer, err := r.target.dialer(r.sys.Files)
		if err != nil {
			return settle.Report{}, err
		}
		report := settle.TLS(ctx, o, wanted, dialer.Served)
		if report.Fingerprint != "" {
			report.Message += "; every pod serves " + report.Fingerprint
		}
		return report, nil
	})(ctx, r)
}

// passwords makes passwords those of the ACL files, and links use the current ones.
func passwords(ctx context.Context, r *runner, o settle.Options) (settle.Report, error) {
	wanted, err := r.wantedUsers()
	if err != nil {
		return settle.Report{}, err
	}
	var links settle.Links
	for user, into := range map[string]*string{name.UserReplication: &links.Replication, name.UserSentinel: &links.Sentinel} {
		file := path.Join(r.settings.systemDir, user+acl.CurrentSuffix)
		data, err := r.sys.Files.ReadFile(file)
		if err == nil && len(data) == 0 {
			err = fmt.Errorf("%s: is empty", file)
		}
		if err != nil {
			return settle.Report{}, err
		}
		*into = string(data)
	}
	return settle.Rotate(ctx, o, wanted, links), nil
}
