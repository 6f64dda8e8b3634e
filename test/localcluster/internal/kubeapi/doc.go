// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package kubeapi is as much of a client of the Kubernetes API as starting a cluster needs.
package kubeapi
