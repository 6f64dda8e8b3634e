// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package secretstore brings what package secret decides into a Kubernetes cluster.
// It asks for as little as it needs: get, create and update of Secrets by name.
//
// Two writers may run at once. A new Secret is only created, an existing one only
// updated while it is what was read; whoever comes second reads again and finds the
// passwords of the first.
package secretstore
