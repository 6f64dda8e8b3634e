// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package object builds the Kubernetes objects of a cluster from its defaulted
// spec: one file for each kind. Builders are pure, keep nothing and change
// nothing that they are given, so they may run in parallel.
//
// What rolls pods is in the pod template, what applies live is in a ConfigMap.
// The rest follows from how API servers and appliers treat what they get:
//
//   - An object is what the server would return for it, as far as it matters: a
//     default inside a list that is replaced as a whole is written out (protocol,
//     volumeMode, fieldRef.apiVersion), quantities are canonical, empty lists and
//     structs are left out. So a second apply changes nothing.
//   - Nothing that varies is in a field that cannot be changed: selectors,
//     serviceName, podManagementPolicy, volumeClaimTemplates.
//   - Secrets are referred to, by volume, and never rendered.
//   - Labels and annotations of the input are not passed on: a tracking label on
//     a claim lets a GitOps tool delete the data.
package object
