// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/topologyjob/secret"
)

// SecretNames are the Secrets that Compute wants to know about: those of the users and
// system users, and the certificate's. An error is a user that is defined twice.
func SecretNames(c *v1alpha1.ValkeyCluster, acls []*v1alpha1.ValkeyACL) ([]string, error) {
	names, err := secret.Names(c, acls)
	if err != nil {
		return nil, err
	}
	if c.TLSEnabled() {
		names = append(names, c.TLSSecretName())
	}
	return names, nil
}
