// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package cli is what the command lines of all programs do alike: how wrong usage is
// told, flags that take one of a few words, help, completion, and which Kubernetes
// cluster is meant.
package cli
