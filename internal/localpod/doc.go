// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package localpod runs the pods of rendered objects as processes of this machine:
// no Kubernetes, no root. Given StatefulSets, ConfigMaps and Secrets, a Host lays
// out what each pod would find in its container and runs the container's own
// command, probes and preStop hook; what it runs is the rendered output and not the
// spec.
//
// A pod differs from one on Kubernetes in this:
//
//   - Its address is one of 127.0.0.0/8, its ports are the rendered ones. Servers
//     are told to listen there (--bind) and to call from there.
//   - Paths that a container mounts are below a directory of the Host, and are
//     replaced in the command, the arguments and the configuration files.
//   - Nobody resolves its DNS name: where the name would be announced the address
//     is, and the scripts get addresses of the pods that the key `members` of
//     ConfigMap <cluster>-live names.
//   - The images are not used: programs are the machine's, and containers other than
//     the server's are left out.
//   - Requests, limits, security contexts and network policies do nothing.
//
// No process outlives the Host, however its process ends: Close, a panic, or
// SIGKILL.
package localpod
