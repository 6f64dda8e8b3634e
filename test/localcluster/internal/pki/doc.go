// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package pki makes the keys and certificates of a cluster and the kubeconfigs that use them.
package pki
