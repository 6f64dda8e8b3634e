// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package job builds the Jobs of a cluster: those that are rendered with the
// manifests, and those that the reconciler starts.
//
// A pod of a Job may do next to nothing: it runs as nobody, writes nowhere, and has
// no token, unless its kind needs the API of Kubernetes. What it is to do is in its
// own template, as arguments and, for what is too long for them, as an annotation
// that it sees as a file. So a Job means the same whenever its pod starts, whatever
// has been changed meanwhile.
//
// A rendered Job is named by a hash of its spec. The template of a Job is immutable,
// so a changed one has to be another object; each runs once, and a tool that applies
// the same manifests again finds it done. No secret is in the hash: a hash of a weak
// password tells the password.
package job
