// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package name

import (
	"crypto/sha256"
	"encoding/hex"
)

// ReconcilerSelector selects the reconciler's pods. Its Leases have these labels too.
func ReconcilerSelector() map[string]string {
	return map[string]string{LabelName: reconcilerName}
}

const reconcilerName = "valkey-reconciler"

// ReconcilerLease is the name of the Lease that a reconciler keeps fresh. Several in one
// namespace that share a fleet by label selectors have one each; selector is that text as
// it was given, "" for none. The chart has the same formula.
func ReconcilerLease(selector string) string {
	const domain = ".valkey-render.dev"
	if selector == "" {
		return reconcilerName + domain
	}
	sum := sha256.Sum256([]byte(selector))
	return reconcilerName + "-" + hex.EncodeToString(sum[:])[:8] + domain
}
