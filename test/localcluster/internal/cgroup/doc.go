// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package cgroup makes and removes the control groups below which a node's kubelet puts its
// pods, in both versions of cgroups.
package cgroup
