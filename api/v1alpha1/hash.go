// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// SpecHash is 16 hex digits of the SHA-256 of the spec with its defaults, as JSON.
// It is the same for the spec as written, as defaulted by the API server, and as
// rendered: delivery is left out, since rendering sets it.
func (c *ValkeyCluster) SpecHash() (string, error) {
	effective := &ValkeyCluster{Spec: *c.Spec.DeepCopy()}
	effective.Name = c.Name
	effective.Default()
	effective.Spec.Delivery = ""
	text, err := json.Marshal(effective.Spec)
	if err != nil {
		return "", fmt.Errorf("spec cannot be written as JSON: %w", err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])[:16], nil
}
