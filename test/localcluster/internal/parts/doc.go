// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package parts gets what a cluster is made of into the cache: the programs of Kubernetes
// and CoreDNS, built from their Go modules; etcd, containerd, runc and the rest of a node,
// from Debian packages; and the images that pods run.
package parts
