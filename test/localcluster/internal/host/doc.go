// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package host is the first process of a host of the cluster: it gives the host its own
// view of the file system, starts the programs of its spec, starts again those that end,
// and reaps what is left to it. When it ends, however it ends, the host is gone: the kernel
// ends its processes and drops its mounts and its network.
package host
