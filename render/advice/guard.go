// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"regexp"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/finding"
)

// plainBus: node IDs, slots and replicated writes then cross the network in the
// clear, although clients use TLS.
func plainBus(c *v1alpha1.ValkeyCluster) []Advice {
	if !c.IsCluster() || !c.TLSEnabled() || c.ClusterBusTLS() {
		return nil
	}
	return one(finding.PlainBus, spec().Child("tls", "clusterBus"),
		"clients use TLS, but the cluster bus does not; it cannot be switched on later")
}

// unprotectedDeletion: a prune or a kubectl delete then takes the data along.
func unprotectedDeletion(c *v1alpha1.ValkeyCluster) []Advice {
	if !c.IsDurable() || c.Spec.DeletionPolicy != v1alpha1.DeletionAllow {
		return nil
	}
	return one(finding.UnprotectedDeletion, spec().Child("deletionPolicy"),
		"Allow lets a mistaken prune or delete take durable data along; set it only in the commit before the deletion")
}

// dataLossAllowed: a roll then goes on although the data exists nowhere else.
func dataLossAllowed(c *v1alpha1.ValkeyCluster) []Advice {
	r := c.Spec.Rollout
	if !c.IsDurable() || r == nil || r.AllowDataLoss == nil || !*r.AllowDataLoss {
		return nil
	}
	return one(finding.DataLossAllowed, spec().Child("rollout", "allowDataLoss"),
		"a roll restarts pods whose data exists nowhere else, although the profile is Durable")
}

// position matches a JSON pointer with a list index in a JSON 6902 patch, YAML or
// JSON.
var position = regexp.MustCompile(`(?m)"?path"?\s*:\s*['"]?/\S*/\d+(/|['"\s,}]|$)`)

// patchFragile: a list index means another item after the next change upstream.
func patchFragile(c *v1alpha1.ValkeyCluster) []Advice {
	var all []Advice
	for i, p := range c.Spec.Patches {
		if position.MatchString(p.Patch) {
			all = append(all, one(finding.PatchFragile, spec().Child("patches").Index(i).Child("patch"),
				"the patch names a list item by its position, which another version may give to another item; a strategic merge patch names it")...)
		}
	}
	return all
}
