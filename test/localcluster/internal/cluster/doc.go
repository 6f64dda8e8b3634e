// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package cluster starts, inspects, breaks, mends and ends a cluster. A cluster is a state
// directory and the processes marked with it: one host for the control plane and one for
// each node, joined by package network, or a single group of processes without namespaces
// where only an API server is asked for.
package cluster
