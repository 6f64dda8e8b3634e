// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package name holds every name that the renderer, the topology Jobs and the
// reconciler must agree on: objects, pods, DNS names, labels, selectors and
// the slots of a shard. Everything here is a pure function of the cluster's
// name, a shard index and a pod index.
//
// Most of it can never change for a live cluster: a StatefulSet's selector and
// serviceName are immutable, a renamed claim is an empty disk, and a renamed
// pod is another host to its peers. testdata/frozen.txt pins it.
package name
