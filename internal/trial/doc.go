// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package trial runs one ValkeyCluster on this machine: it renders it, makes up what
// the rendering refers to (package credential), runs the pods (package localpod),
// brings the servers together, and follows changes of the spec as they would be
// followed on Kubernetes. It is what `valkey-render try` does, and what tests use
// that need a cluster as the rendered output makes it.
package trial
