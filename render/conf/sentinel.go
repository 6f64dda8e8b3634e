// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package conf

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
)

// sentinelPort is where sentinels listen, with TLS and without.
const sentinelPort = "26379"

// Sentinel returns the text of sentinel.conf for the annotation of Sentinel pods,
// ending with SentinelMarker.
//
// It is not what the server reads: start.sh writes that to the data volume, where
// a sentinel keeps what it learns. start.sh adds what only a running pod knows:
// `sentinel monitor mymaster` with the present primary and the quorum of the
// comment `# valkey-render: quorum N`, the pod's id and address, and credentials.
// Lines about mymaster are left out there as long as no primary is known.
func Sentinel(c *v1alpha1.ValkeyCluster) (string, error) {
	user := sentinelSettings(c)
	groups := []group{
		sentinelNetwork(c),
		tlsGroup(c),
		sentinelFiles(c),
		{title: "valkey-render: quorum " + strconv.Itoa(int(c.SentinelQuorum())), settings: sentinelPrimary(c, user)},
		{title: "spec.sentinel.config", settings: user.server},
	}
	return write(groups, SentinelMarker)
}

func sentinelNetwork(c *v1alpha1.ValkeyCluster) group {
	g := networkGroup()
	if c.TLSEnabled() {
		g.add("port", "0")
		g.add("tls-port", sentinelPort)
	} else {
		g.add("port", sentinelPort)
	}
	// Names outlive the addresses of pods, which a sentinel would otherwise keep
	// as those of lost replicas and lost sentinels.
	g.add("sentinel resolve-hostnames", "yes")
	if c.Announce() == v1alpha1.AnnounceHostname {
		g.add("sentinel announce-hostnames", "yes")
	}
	return g
}

func sentinelFiles(c *v1alpha1.ValkeyCluster) group {
	g := group{title: "files"}
	g.add("dir", "/data")
	// Not the data pods' file: a sentinel knows no data command, and one that is
	// unknown keeps it from starting.
	g.add("aclfile", "/valkey/acl/"+c.ServerVersion()+".sentinel.acl")
	return g
}

// sentinelPrimary are the options of the one primary that is watched.
func sentinelPrimary(c *v1alpha1.ValkeyCluster, user sentinelChosen) []setting {
	values := map[string]string{
		"down-after-milliseconds": strconv.FormatInt(c.SentinelDownAfter().Milliseconds(), 10),
		// A failover that found no replica is tried again after twice this; the
		// server's own three minutes leave a cluster without a primary for six.
		"failover-timeout": "60000",
		// One replica at a time is without data while it takes a full copy.
		"parallel-syncs": "1",
	}
	maps.Copy(values, user.primary)
	var settings []setting
	for _, option := range slices.Sorted(maps.Keys(values)) {
		settings = append(settings, setting{"sentinel " + option, name.SentinelMaster + " " + values[option]})
	}
	return settings
}

// sentinelChosen is spec.sentinel.config: options of the primary, and directives
// of the sentinel itself.
type sentinelChosen struct {
	primary map[string]string
	server  []setting
}

func sentinelSettings(c *v1alpha1.ValkeyCluster) sentinelChosen {
	user := sentinelChosen{primary: map[string]string{}}
	if c.Spec.Sentinel == nil {
		return user
	}
	for _, given := range slices.Sorted(maps.Keys(c.Spec.Sentinel.Config)) {
		value := c.Spec.Sentinel.Config[given]
		switch option := strings.ToLower(given); option {
		case "failover-timeout", "parallel-syncs", "down-after-milliseconds":
			user.primary[option] = value
		default:
			user.server = append(user.server, setting{option, value})
		}
	}
	return user
}

// Check returns every fault of spec.config and spec.sentinel.config: unknown,
// reserved or secret directives, values of the wrong type or out of range, and
// values that contradict other fields. Values of secrets are never echoed.
func Check(*v1alpha1.ValkeyCluster) field.ErrorList { return nil }
