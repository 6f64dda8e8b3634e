// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/cmd/internal/cli"
	"github.com/valkey-render/valkey-render/cmd/valkey-topology/internal/argument"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/client"
	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/outcome"
	"github.com/valkey-render/valkey-render/topologyjob/plan"
	"github.com/valkey-render/valkey-render/topologyjob/slot"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// target are the flags that say which servers a command talks to, how, and what is wanted of
// them. A spec (-f) fills in what no flag says.
type target struct {
	shards, replicas     int32
	durable, initialized bool
	acceptLoss           string
	takeover             bool
	vacate               []string
	spread               cli.Choice
	nodeTimeout          time.Duration
	port                 int32
	pods                 []string
	domain               string
	moves                moves
	replication          replication

	user      string
	passwords []string
	ca        string
	cert, key string
}

func (t *target) addTo(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.Int32Var(&t.shards, "shards", 0, "number of shards (default of the spec)")
	flags.Int32Var(&t.replicas, "replicas", 0, "replicas of each shard (default of the spec)")
	flags.BoolVar(&t.durable, "durable", false, "data is meant to outlive the pods: slots without owner are never handed out again (default of the spec)")
	flags.BoolVar(&t.initialized, "initialized", false, "the cluster was formed before")
	flags.StringVar(&t.acceptLoss, "accept-slot-loss", "", "`slots` whose data is given up, such as 0-5460,9000")
	flags.BoolVar(&t.takeover, "takeover", false, "replicas may take over without votes when a majority of primaries is dead (default of the spec; --kind takeover sets it)")
	flags.StringArrayVar(&t.vacate, "vacate", nil, "`pod` that is to be no primary, since it is about to go; repeatable")
	t.spread = cli.NewChoice("", string(plan.SpreadNodes), string(plan.SpreadZones))
	t.spread.AddTo(cmd, "spread", "", "hand primaries over until they are spread over these")
	flags.DurationVar(&t.nodeTimeout, "node-timeout", 0, "cluster-node-timeout (default of the spec, 2s)")
	flags.Int32Var(&t.port, "port", 0, "data port of pods that name none (default of the spec, 6379)")
	flags.StringArrayVar(&t.pods, "pod", nil, "`NAME=HOST` of a data pod, with [,port=N][,uid=U][,runs=Running|Stopped][,node=N][,zone=Z]; repeatable (default: the names of the spec's pods)")
	flags.StringVar(&t.domain, "pod-domain", "", "`domain` of the pods' names in certificates, such as c-nodes.shop.svc.cluster.local (default of the spec)")
	flags.StringVar(&t.user, "user", "", "user to log in as (default "+name.UserOperator+" with a password file, else nobody)")
	flags.StringArrayVar(&t.passwords, "password-file", nil, "`file` with a password that may be right; repeatable, the next one of a rotation may be missing")
	flags.StringVar(&t.ca, "tls-ca", "", "`file` with the CA of the servers' certificates: turns TLS on")
	flags.StringVar(&t.cert, "tls-cert", "", "`file` with the certificate to show")
	flags.StringVar(&t.key, "tls-key", "", "`file` with its key")
	t.moves.addTo(cmd)
	t.replication.addTo(cmd)
	for _, file := range []string{"password-file", "tls-ca", "tls-cert", "tls-key"} {
		_ = cmd.MarkFlagFilename(file)
	}
}

// aim is what a target comes to.
type aim struct {
	desired plan.Desired
	pods    []survey.Pod
	dialer  node.Dialer
	// login is who servers log in as at each other to move keys.
	login func() (node.Login, error)
	// sentinels are the pods of sentinels; sentinelLogin is who those log in as at servers,
	// sentinelSettings are what they are told about the primary.
	sentinels        []survey.Pod
	sentinelLogin    func() (node.Login, error)
	sentinelSettings map[string]string
}

// resolve reads the flags, the spec and the files that they name. Everything wrong is
// reported at once, as bad input.
func (t *target) resolve(files Files, specs *specs, fallback string) (aim, error) {
	var problems []error
	var cluster *v1alpha1.ValkeyCluster
	if len(specs.files) > 0 {
		c, _, err := specs.read(files, fallback)
		if err != nil {
			return aim{}, err
		}
		cluster = c
	}
	desired, err := t.desired(cluster)
	problems = append(problems, err)
	pods, err := t.places(cluster, desired)
	problems = append(problems, err)
	sentinels, err := t.replication.places(cluster, desired, t.domain)
	problems = append(problems, err)
	dialer, err := t.dialer(files)
	problems = append(problems, err)
	if err := errors.Join(problems...); err != nil {
		return aim{}, &verdict{outcome.BadInput, "InputInvalid", err}
	}
	return aim{
		desired: desired, pods: pods, dialer: dialer, login: dialer.Login,
		sentinels: sentinels, sentinelLogin: t.replication.login(files), sentinelSettings: t.replication.settings(cluster),
	}, nil
}

func (t *target) desired(c *v1alpha1.ValkeyCluster) (plan.Desired, error) {
	d := plan.Desired{Shards: t.shards, Replicas: t.replicas, Durable: t.durable, Initialized: t.initialized, NodeTimeout: t.nodeTimeout, Takeover: t.takeover, Vacate: t.vacate, Spread: plan.Spread(t.spread.Value)}
	if c != nil {
		if d.Shards == 0 {
			d.Shards, d.Replicas = c.ShardCount(), c.ReplicaCount()
		}
		d.Durable = d.Durable || c.IsDurable()
		d.Takeover = d.Takeover || c.QuorumTakeover() == v1alpha1.QuorumTakeoverAuto
		if d.NodeTimeout == 0 {
			d.NodeTimeout = c.NodeTimeout()
		}
	}
	if d.NodeTimeout == 0 {
		d.NodeTimeout = 2 * time.Second
	}
	var problems []error
	problems = append(problems, t.replication.apply(&d, c))
	switch {
	case d.Shards > name.SlotCount:
		problems = append(problems, fmt.Errorf("--shards %d: must be 1 to %d: each has a slot at least", d.Shards, name.SlotCount))
	case d.Shards < 1:
		problems = append(problems, fmt.Errorf("--shards %d: must be 1 or more, or name a spec with -f", d.Shards))
	}
	if d.Replicas < 0 {
		problems = append(problems, fmt.Errorf("--replicas %d: must not be negative", d.Replicas))
	}
	lost, err := slot.Parse(t.acceptLoss)
	if err != nil {
		problems = append(problems, fmt.Errorf("--accept-slot-loss: %w", err))
	}
	d.AcceptLoss = lost
	problems = append(problems, t.moves.apply(&d, c))
	return d, errors.Join(problems...)
}

// places are the pods of the flags, else those of the spec by their DNS names.
func (t *target) places(c *v1alpha1.ValkeyCluster, d plan.Desired) ([]survey.Pod, error) {
	port, domain := t.port, t.domain
	if c != nil {
		if port == 0 {
			port = c.Port()
		}
		if domain == "" {
			domain = name.ServiceFQDN(name.Nodes(c.Name), c.Namespace, c.ClusterDomain())
		}
	}
	if port == 0 {
		port = v1alpha1.DefaultPort
	}
	if len(t.pods) > 0 {
		return argument.Pods(t.pods, int(port), domain)
	}
	if c == nil {
		return nil, errors.New("no pods: name them with --pod, or their spec with -f")
	}
	var pods []survey.Pod
	for shard := range max(d.Shards, t.moves.presentShards) {
		for index := range max(d.Replicas+1, t.replication.presentPods) {
			pod := name.Pod(c.Name, shard, index)
			// The dot at the end keeps the resolver from trying its search list.
			pods = append(pods, survey.Pod{Name: pod, Shard: shard, Index: index, Host: pod + "." + domain + ".", Port: int(port), ServerName: pod + "." + domain})
		}
	}
	return pods, nil
}

// dialer logs in and speaks TLS as the flags say.
func (t *target) dialer(files Files) (client.Dialer, error) {
	d := client.Dialer{Username: t.user}
	var problems []error
	if len(t.passwords) > 0 {
		if d.Username == "" {
			d.Username = name.UserOperator
		}
		if !files.Exists(t.passwords[0]) {
			problems = append(problems, fmt.Errorf("--password-file %s: there is no such file", t.passwords[0]))
		}
		d.Passwords = func() ([]string, error) { return readPasswords(files, t.passwords) }
	} else if d.Username != "" {
		problems = append(problems, fmt.Errorf("--user %s: needs --password-file", d.Username))
	}
	if t.ca == "" {
		if t.cert != "" || t.key != "" {
			problems = append(problems, errors.New("--tls-cert, --tls-key: need --tls-ca"))
		}
		return d, errors.Join(problems...)
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: x509.NewCertPool()}
	ca, err := files.ReadFile(t.ca)
	if err == nil && !config.RootCAs.AppendCertsFromPEM(ca) {
		err = fmt.Errorf("%s: no certificate in it", t.ca)
	}
	if err != nil {
		problems = append(problems, fmt.Errorf("--tls-ca: %w", err))
	}
	if t.cert != "" || t.key != "" {
		pair, err := readPair(files, t.cert, t.key)
		if err != nil {
			problems = append(problems, fmt.Errorf("--tls-cert, --tls-key: %w", err))
		}
		config.Certificates = []tls.Certificate{pair}
	}
	d.TLS = config
	return d, errors.Join(problems...)
}

func readPair(files Files, certFile, keyFile string) (tls.Certificate, error) {
	cert, err := files.ReadFile(certFile)
	if err != nil {
		return tls.Certificate{}, err
	}
	key, err := files.ReadFile(keyFile)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.X509KeyPair(cert, key)
}

// readPasswords are the passwords of the files that are there. A Secret that is mounted
// has no file for a next password while none is being moved to.
func readPasswords(files Files, names []string) ([]string, error) {
	var passwords []string
	for _, file := range names {
		if !files.Exists(file) {
			continue
		}
		data, err := files.ReadFile(file)
		if err != nil {
			return nil, err
		}
		passwords = append(passwords, string(data))
	}
	if len(passwords) == 0 {
		return nil, fmt.Errorf("none of %s is there", strings.Join(names, ", "))
	}
	return passwords, nil
}
