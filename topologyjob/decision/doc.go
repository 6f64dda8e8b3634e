// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package decision decides what a reconciler does next about one cluster, from everything
// that was seen of it at one moment. It is pure, and it remembers nothing: what was done
// before is in the status of the ValkeyCluster and in the annotations of its Jobs.
//
// What only the Valkey protocol can do is left to Jobs; package plan says what that would
// be, and this package which kind of Job does it, and when: one Job that changes the
// topology at a time, and after a failure only so often.
package decision
