// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package conf writes the configuration of data pods and sentinels: pure
// functions from a defaulted ValkeyCluster to text.
//
// A pod reads three places, the later one winning:
//
//   - Server is the pod annotation valkey-render.dev/valkey.conf: what takes a
//     restart. It is part of the pod template, so a change of it rolls pods.
//   - Live is one key of the ConfigMap <cluster>-live for each minor version:
//     what CONFIG SET can change. Server's text includes it through the copy
//     that start.sh made.
//   - Args follow the file on the command line: what must hold even when the
//     file came up empty, which would start an open standalone server.
//
// Ours is only what differs from the server's own default for a reason, or what
// must never change under a kept volume. What users ask for in spec.config wins
// over ours unless the directive is reserved; Check says so, with the field to
// use instead.
//
// Left at the server's default on purpose: replica-serve-stale-data (CLUSTER
// SLOTS leaves out replicas that never synced, readiness holds them back, and
// `no` would refuse reads for as long as a failover takes), lazyfree-*
// (asynchronous since 8.0), repl-diskless-sync (on since 7.0), logfile (standard
// output), tcp-keepalive, latency-tracking.
package conf
