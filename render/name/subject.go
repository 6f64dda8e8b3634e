// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package name

// Subject is how findings and errors name an object: Kind/namespace/name, or
// Kind/name without a namespace.
func Subject(kind, namespace, object string) string {
	if namespace == "" {
		return kind + "/" + object
	}
	return kind + "/" + namespace + "/" + object
}
