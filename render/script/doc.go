// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package script holds the POSIX sh programs of a cluster's pods: start.sh, the
// command of the server container; probe.sh, its three probes; prestop.sh, its
// preStop hook; and the files these source. They go into the ConfigMap
// <cluster>-scripts unchanged. Everything that varies reaches them as arguments,
// environment and mounted files, so their bytes are the same for every cluster
// and changing a spec never changes them.
//
// start.sh decides who a container is at each of its starts; the rules are at
// the head of the files that hold them: live.sh (which live settings), persist.sh
// (the data, after a change of what the server writes; rdb.sh reads the heads of
// files), identity.sh
// (Cluster: is this still the node of nodes.conf), role.sh (Replication and
// Sentinel: primary, replica or fenced) and sentinel.sh (what a sentinel watches).
//
// They run with the shells of the images (dash with coreutils, busybox) and with
// the images' valkey-server and valkey-cli, and use no other program.
package script
