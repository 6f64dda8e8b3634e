// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package conf

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/agnivade/levenshtein"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/directive"
)

// primaryOptions are the options of the primary that spec.sentinel.config may
// hold, with their least value.
func primaryOptions() map[string]int64 {
	return map[string]int64{"failover-timeout": 1, "parallel-syncs": 1, "master-reboot-down-after-period": 0}
}

// checkSentinel holds spec.sentinel.config against what sentinels take: options of
// the primary, and the directives of any server.
func checkSentinel(path *field.Path, c *v1alpha1.ValkeyCluster) field.ErrorList {
	var errs field.ErrorList
	directives := map[string]string{}
	first := map[string]string{}
	for _, given := range slices.Sorted(maps.Keys(c.Spec.Sentinel.Config)) {
		value := trimmed(c.Spec.Sentinel.Config[given])
		option := strings.ToLower(given)
		p := checkOption(c.ServerVersion(), option, value)
		if other, again := first[option]; again && p == nil {
			p = &directive.Problem{Kind: directive.Duplicate, Message: "is the same option as " + other}
		}
		first[option] = given
		if p != nil {
			p.Name = given
			errs = append(errs, fieldError(path.Key(given), *p, value))
		} else if _, isOption := primaryOptions()[option]; !isOption {
			directives[given] = value
		}
	}
	return append(errs, checkDirectives(path, c.ServerVersion(), directives)...)
}

// checkOption judges what only sentinels know; directives of any server are left
// to the table.
func checkOption(version, option, value string) *directive.Problem {
	if least, isOption := primaryOptions()[option]; isOption {
		return checkNumber(value, least)
	}
	if kind, why := sentinelReserved(option); why != "" {
		return &directive.Problem{Kind: kind, Message: "reserved: " + why}
	}
	if _, known := directive.Lookup(version, option); known {
		return nil
	}
	for _, near := range slices.Sorted(maps.Keys(primaryOptions())) {
		if levenshtein.ComputeDistance(option, near) <= 3 {
			return &directive.Problem{Kind: directive.Unknown, Message: fmt.Sprintf("unknown directive; did you mean %q?", near)}
		}
	}
	return nil
}

func checkNumber(value string, least int64) *directive.Problem {
	n, err := strconv.ParseInt(value, 10, 32)
	if err == nil && n >= least && strconv.FormatInt(n, 10) == value {
		return nil
	}
	return &directive.Problem{Kind: directive.Value, Message: fmt.Sprintf("value %q must be a whole number from %d to %d", value, least, math.MaxInt32)}
}

// sentinelReserved says why an option of sentinel.conf is not for
// spec.sentinel.config; empty for others.
func sentinelReserved(option string) (kind directive.Kind, why string) {
	if strings.HasPrefix(option, "sentinel ") {
		return directive.Reserved, "options of the primary are written without `sentinel` and its name, as in failover-timeout"
	}
	switch option {
	case "monitor", "known-replica", "known-slave", "known-sentinel", "config-epoch", "leader-epoch", "current-epoch", "myid":
		return directive.Reserved, "sentinels find this out themselves"
	case "quorum":
		return directive.Reserved, "the quorum is a field; use spec.sentinel.quorum"
	case "down-after-milliseconds":
		return directive.Reserved, "probes and scripts wait by it; use spec.sentinel.downAfter"
	case "auth-user", "sentinel-user":
		return directive.Reserved, "sentinels have a user of their own"
	case "auth-pass", "sentinel-pass":
		return directive.Secret, "passwords belong in a Secret, and sentinels have one of their own"
	case "announce-ip", "announce-hostnames", "resolve-hostnames":
		return directive.Reserved, "each sentinel announces its own address; use spec.networking.announce"
	case "announce-port":
		return directive.Reserved, "sentinels announce the port they listen on"
	case "notification-script", "client-reconfig-script", "deny-scripts-reconfig":
		return directive.Reserved, "pods have no scripts to run"
	case "rename-command", "master-rename-command", "primary-rename-command":
		return directive.Reserved, "sentinels need the commands by their names"
	}
	return "", ""
}
