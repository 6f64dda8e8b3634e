// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package converge_test

import (
	"cmp"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/internal/clustertest"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/acl"
	"github.com/valkey-render/valkey-render/topologyjob/client"
	"github.com/valkey-render/valkey-render/topologyjob/converge"
	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/plan"
	"github.com/valkey-render/valkey-render/topologyjob/slot"
)

// TestProcessSecured forms a cluster, adds a shard, moves slots there and hands over, on
// servers that take nothing but TLS with a certificate, on IPv6, that announce names, with
// certificates for these names alone, as a user who may no more than it needs.
func TestProcessSecured(t *testing.T) {
	t.Parallel()
	perVersion(t, func(t *testing.T, version string) {
		secure := clustertest.NewSecure(t)
		c := clustertest.NewSecured(t, version, secure, 2, 1, systemUsers(t, version, v1alpha1.TopologyCluster)...)
		operator := client.Dialer{
			Username: name.UserOperator, Passwords: func() ([]string, error) { return []string{"pw"}, nil }, Timeout: 10 * time.Second, TLS: secure.Config,
		}
		converged := func(kind converge.Kind) {
			t.Helper()
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
			defer cancel()
			options := c.Options(kind, operator)
			options.Login = operator.Login
			if out := converge.Run(ctx, options); out.Result != converge.Converged || out.Failed > 0 {
				t.Fatalf("%s: %+v", kind, out)
			}
		}
		converged(converge.Bootstrap)
		c.Desired.Initialized, c.Desired.Durable = true, true
		const keys = 500
		c.Fill(keys)
		grow(t, c, 3)
		converged(converge.Repair)
		c.Desired.Reshard = &plan.Reshard{From: 0, To: 2, Slots: slot.Ranges{{First: 0, Last: 299}}}
		converged(converge.Reshard)
		if n := c.Missing(keys); n > 0 {
			t.Errorf("%d keys are missing", n)
		}
		c.Synced()
		for _, p := range c.Sorted()[:2] {
			if p.Role() == "master" {
				c.Desired.Vacate = []string{p.Place.Name}
			}
		}
		converged(converge.Handover)
		if vacated := c.Pods[c.Desired.Vacate[0]]; vacated.Role() != "slave" {
			t.Errorf("%s is a %s", vacated.Place.Name, vacated.Role())
		}
		nothingRefused(t, c)
	})
}

// TestProcessSecuredReplication: the same for Replication and Sentinel, by address, which is
// one of IPv6 where the machine has one, and by a name.
func TestProcessSecuredReplication(t *testing.T) {
	t.Parallel()
	for _, topology := range []v1alpha1.Topology{v1alpha1.TopologyReplication, v1alpha1.TopologySentinel} {
		for by, called := range map[string]string{"address": "", "name": "localhost"} {
			t.Run(string(topology)+"/"+by, func(t *testing.T) {
				t.Parallel()
				perVersion(t, func(t *testing.T, version string) { securedReplication(t, version, topology, called) })
			})
		}
	}
}

func securedReplication(t *testing.T, version string, topology v1alpha1.Topology, called string) {
	secure := clustertest.NewSecure(t)
	if called != "" {
		secure.Name, secure.IP = called, "127.0.0.1"
	}
	c := clustertest.NewSecuredReplication(t, version, secure, 3, systemUsers(t, version, topology)...)
	if topology == v1alpha1.TopologySentinel {
		c.Watch(3, sentinelFiles(t, version), "AUTH", "tester", "any")
	}
	operator := client.Dialer{
		Username: name.UserOperator, Passwords: func() ([]string, error) { return []string{"pw"}, nil }, Timeout: 10 * time.Second, TLS: secure.Config,
	}
	converged := func(kind converge.Kind) converge.Outcome {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
		defer cancel()
		options := c.Options(kind, operator)
		options.SentinelLogin = func() (node.Login, error) {
			return node.Login{User: name.UserSentinel, Passwords: []string{"pw"}}, nil
		}
		out := converge.Run(ctx, options)
		if out.Result != converge.Converged {
			t.Fatalf("%s: %+v", kind, out)
		}
		return out
	}
	converged(converge.Bootstrap)
	c.Fill(100)
	c.Synced()
	primary := c.Primary()
	if host, want := c.Pod(0, 1).Info()["master_host"], cmp.Or(called, secure.IP); host != want {
		t.Errorf("the replica follows %s, not %s", host, want)
	}
	c.Desired.Vacate = []string{primary.Place.Name}
	if out := converged(converge.Handover); out.Steps["handover"] != 1 || primary.Role() != "slave" {
		t.Errorf("%s is a %s: %+v", primary.Place.Name, primary.Role(), out)
	}
	c.Desired.Vacate = nil
	c.Synced()
	nothingRefused(t, c)
	c.Primary().Stop()
	converged(converge.Failover)
	if n := c.Missing(100); n > 0 {
		t.Errorf("%d keys are missing", n)
	}
	nothingRefused(t, c)
}

// sentinelFiles are those of sentinels that have the system users, and one of the test's.
func sentinelFiles(t *testing.T, version string) map[string]string {
	t.Helper()
	text, err := acl.SentinelText(version, systemInput(v1alpha1.TopologySentinel))
	if err != nil {
		t.Fatal(err)
	}
	return map[string]string{
		"users.acl":     text + "user tester on nopass +@all\n",
		"sentinel.conf": "aclfile users.acl\nsentinel sentinel-user " + name.UserSentinel + "\nsentinel sentinel-pass pw\n",
	}
}

// nothingRefused fails for every command that a user was refused.
func nothingRefused(t *testing.T, c *clustertest.Cluster) {
	t.Helper()
	for _, p := range c.Sorted() {
		if p.Server == nil {
			continue
		}
		log, err := p.Server.Do("ACL", "LOG")
		if err != nil {
			// Sentinels end all connections to servers whose role they change.
			log, err = p.Server.Do("ACL", "LOG")
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range log.([]any) {
			t.Errorf("pod %s refused: %s", p.Place.Name, fmt.Sprint(entry))
		}
	}
}
