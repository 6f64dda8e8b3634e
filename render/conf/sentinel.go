// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package conf

import (
	"maps"
	"slices"
	"strconv"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/directive"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/render/script"
)

// Sentinel returns the text of sentinel.conf for the annotation of Sentinel pods,
// ending with its script.EndMarker.
//
// It is not what the server reads: start.sh writes that to the data volume, where
// a sentinel keeps what it learns. start.sh adds what only a running pod knows:
// `sentinel monitor` with the present primary and the quorum of the
// comment script.QuorumPrefix, the pod's id and address, and credentials.
// Lines about the primary are left out there as long as no primary is known.
func Sentinel(c *v1alpha1.ValkeyCluster) (string, error) {
	groups := []group{
		sentinelNetwork(c),
		tlsGroup(c),
		sentinelFiles(c),
		{title: "primary", settings: sentinelPrimary(c)},
		{title: "spec.sentinel.config", settings: sentinelServer(c)},
	}
	return write(groups, script.SentinelFile)
}

func sentinelNetwork(c *v1alpha1.ValkeyCluster) group {
	g, port := networkGroup(), strconv.Itoa(v1alpha1.SentinelPort)
	if c.TLSEnabled() {
		g.add("port", "0")
		g.add("tls-port", port)
	} else {
		g.add("port", port)
	}
	// Names outlive the addresses of pods, which a sentinel would otherwise keep
	// as those of lost replicas and lost sentinels.
	g.addWords("sentinel", "resolve-hostnames", "yes")
	if c.Announce() == v1alpha1.AnnounceHostname {
		g.addWords("sentinel", "announce-hostnames", "yes")
	}
	return g
}

func sentinelFiles(c *v1alpha1.ValkeyCluster) group {
	g := group{title: "files"}
	g.add("dir", script.DataDir)
	// Not the data pods' file: a sentinel knows no data command, and one that is
	// unknown keeps it from starting.
	g.add("aclfile", script.ACLDir+"/"+script.SentinelACLFile(c.ServerVersion()))
	return g
}

// sentinelPrimary are the quorum, which start.sh needs for the line that it writes,
// and the options of the one primary that is watched.
func sentinelPrimary(c *v1alpha1.ValkeyCluster) []setting {
	values := SentinelSettings(c)
	g := group{settings: []setting{{comment: script.QuorumPrefix + strconv.Itoa(int(c.SentinelQuorum()))}}}
	for _, option := range slices.Sorted(maps.Keys(values)) {
		g.addWords("sentinel", option, name.SentinelMaster, values[option])
	}
	return g.settings
}

// SentinelSettings are the options of the primary that is watched, but for the quorum: the
// file has them, and a Job sets them on sentinels that watch nothing.
func SentinelSettings(c *v1alpha1.ValkeyCluster) map[string]string {
	values := map[string]string{
		"down-after-milliseconds": strconv.FormatInt(c.SentinelDownAfter().Milliseconds(), 10),
		// A failover that found no replica is tried again after twice this; the
		// server's own three minutes leave a cluster without a primary for six.
		"failover-timeout": "60000",
		// One replica at a time is without data while it takes a full copy.
		"parallel-syncs": "1",
	}
	maps.Copy(values, sentinelConfig(c, directive.PerMaster))
	return values
}

// sentinelServer are the directives of spec.sentinel.config that are about the
// sentinel itself: those of any server.
func sentinelServer(c *v1alpha1.ValkeyCluster) []setting {
	g := group{}
	config := sentinelConfig(c, directive.Server)
	for _, option := range slices.Sorted(maps.Keys(config)) {
		g.add(option, config[option])
	}
	return g.settings
}

// sentinelConfig is what spec.sentinel.config says in one scope, by the present
// names of its directives. Reserved ones are left out: Check refuses them.
func sentinelConfig(c *v1alpha1.ValkeyCluster, scope directive.SentinelScope) map[string]string {
	config := map[string]string{}
	if c.Spec.Sentinel == nil {
		return config
	}
	for _, given := range slices.Sorted(maps.Keys(c.Spec.Sentinel.Config)) {
		if d, found := directive.LookupSentinel(c.ServerVersion(), given); found && d.Scope == scope && d.Reserved == "" {
			config[d.Name] = trimmed(c.Spec.Sentinel.Config[given])
		}
	}
	return config
}
