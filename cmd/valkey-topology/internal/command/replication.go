// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/cmd/internal/cli"
	"github.com/valkey-render/valkey-render/cmd/valkey-topology/internal/argument"
	"github.com/valkey-render/valkey-render/render/conf"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/plan"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// replication are the flags of topologies without slots.
type replication struct {
	topology      cli.Choice
	primary, keep string
	detection     time.Duration
	sentinels     []string
	quorum        int
	presentPods   int32
	passwords     []string
}

func (r *replication) addTo(cmd *cobra.Command) {
	r.topology = cli.NewChoice("", string(v1alpha1.TopologyCluster), string(v1alpha1.TopologyReplication), string(v1alpha1.TopologySentinel), string(v1alpha1.TopologyStandalone))
	r.topology.AddTo(cmd, "topology", "", "what the pods are (default of the spec, Cluster)")
	flags := cmd.Flags()
	flags.StringVar(&r.primary, "primary", "", "`pod` that is to be the primary, by handover (Replication, Sentinel)")
	flags.StringVar(&r.keep, "keep", "", "`pod` whose data is kept where it cannot be told which is the newest; that of others is given up (Replication, Sentinel)")
	flags.DurationVar(&r.detection, "detection", 0, "for how long nothing may have been heard of a primary that is gone (default of the spec, 3s; Replication)")
	flags.StringArrayVar(&r.sentinels, "sentinel", nil, "`NAME=HOST` of a sentinel pod, with [,port=N][,uid=U][,runs=Running|Stopped][,node=N][,zone=Z]; repeatable (default: the names of the spec's pods)")
	flags.Int32Var(&r.presentPods, "present-pods", 0, "pods of each shard that there are now, when these are more than are wanted")
	flags.IntVar(&r.quorum, "quorum", 0, "sentinels that have to agree that a primary is down (default of the spec, a majority)")
	flags.StringArrayVar(&r.passwords, "sentinel-password-file", nil, "`file` with the password that sentinels log in with at servers, as "+name.UserSentinel+"; the first that is there counts; repeatable")
	_ = cmd.MarkFlagFilename("sentinel-password-file")
}

// apply fills in what is wanted.
func (r *replication) apply(d *plan.Desired, c *v1alpha1.ValkeyCluster) error {
	d.Topology = v1alpha1.Topology(r.topology.Value)
	if c != nil {
		if d.Topology != "" && d.Topology != c.EffectiveTopology() {
			return fmt.Errorf("--topology %s: the spec says %s", d.Topology, c.EffectiveTopology())
		}
		d.Topology = c.EffectiveTopology()
	}
	d.Primary, d.Keep, d.Detection, d.Quorum = r.primary, r.keep, r.detection, r.quorum
	if d.Topology == "" || d.Topology == v1alpha1.TopologyCluster {
		if r.primary != "" || r.keep != "" || r.detection != 0 || len(r.sentinels) > 0 || r.quorum != 0 || len(r.passwords) > 0 {
			return errors.New("--primary, --keep, --detection, --sentinel, --quorum, --sentinel-password-file: not for topology Cluster")
		}
		return nil
	}
	if d.Shards > 1 {
		return fmt.Errorf("--shards %d: topology %s has one", d.Shards, d.Topology)
	}
	d.Shards = 1
	if c != nil && d.Detection == 0 {
		d.Detection = c.Detection()
	}
	if d.Topology == v1alpha1.TopologySentinel {
		return r.applySentinel(d, c)
	}
	if len(r.sentinels) > 0 || r.quorum != 0 || len(r.passwords) > 0 {
		return fmt.Errorf("--sentinel, --quorum, --sentinel-password-file: topology %s has none", d.Topology)
	}
	return nil
}

func (r *replication) applySentinel(d *plan.Desired, c *v1alpha1.ValkeyCluster) error {
	d.Sentinels = int32(len(r.sentinels))
	if c != nil {
		d.Sentinels = c.SentinelReplicas()
		if d.Quorum == 0 {
			d.Quorum = int(c.SentinelQuorum())
		}
		d.ReplicaPriority = replicaPriority(c)
	}
	if d.Quorum == 0 {
		d.Quorum = int(d.Sentinels)/2 + 1
	}
	if d.Sentinels < 1 || d.Quorum < 1 || d.Quorum > int(d.Sentinels) {
		return fmt.Errorf("--sentinel, --quorum: %d sentinels of which %d have to agree", d.Sentinels, d.Quorum)
	}
	return nil
}

// replicaPriority is what servers have by the spec.
func replicaPriority(c *v1alpha1.ValkeyCluster) int {
	for given, value := range c.Spec.Config {
		if strings.EqualFold(given, "replica-priority") || strings.EqualFold(given, "slave-priority") {
			if n, err := strconv.Atoi(strings.TrimSpace(value)); err == nil {
				return n
			}
		}
	}
	return 100
}

// places are the sentinels of the flags, else those of the spec by their DNS names.
func (r *replication) places(c *v1alpha1.ValkeyCluster, d plan.Desired, domain string) ([]survey.Pod, error) {
	if d.Topology != v1alpha1.TopologySentinel {
		return nil, nil
	}
	if c != nil {
		// Sentinels are below their own headless Service.
		domain = name.ServiceFQDN(name.Sentinel(c.Name), c.Namespace, c.ClusterDomain())
	}
	var (
		pods     []survey.Pod
		problems []error
	)
	for _, flag := range r.sentinels {
		pod, err := argument.Sentinel(flag, v1alpha1.SentinelPort)
		if err != nil {
			problems = append(problems, fmt.Errorf("--sentinel %q: %w", flag, err))
			continue
		}
		if domain != "" {
			pod.ServerName = pod.Name + "." + domain
		}
		pods = append(pods, pod)
	}
	if len(r.sentinels) > 0 || c == nil {
		return pods, errors.Join(problems...)
	}
	for index := range d.Sentinels {
		pod := name.SentinelPod(c.Name, index)
		pods = append(pods, survey.Pod{Name: pod, Index: index, Host: pod + "." + domain + ".", Port: v1alpha1.SentinelPort, ServerName: pod + "." + domain})
	}
	return pods, nil
}

// login is who sentinels log in as, nil without a password.
func (r *replication) login(files Files) func() (node.Login, error) {
	if len(r.passwords) == 0 {
		return nil
	}
	return func() (node.Login, error) {
		passwords, err := readPasswords(files, r.passwords)
		return node.Login{User: name.UserSentinel, Passwords: passwords}, err
	}
}

// settings are what sentinels are told about the primary.
func (r *replication) settings(c *v1alpha1.ValkeyCluster) map[string]string {
	if c == nil || c.EffectiveTopology() != v1alpha1.TopologySentinel {
		return nil
	}
	return conf.SentinelSettings(c)
}
