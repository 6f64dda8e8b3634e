// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package secret decides what is in the Secrets that belong to a cluster:
//
//   - <cluster>-auth: the password of the default user, unless spec.auth names a
//     Secret of its own or auth is off;
//   - <cluster>-system: the passwords of the system users, and what the exporter
//     reads;
//   - <cluster>-acl: the ACL files, with hashes of every user's passwords.
//
// It is pure: whoever may read Secrets hands in what is there, with a source of
// randomness, and writes what comes out. What is decided for what is already right
// is nothing.
//
// A password that exists is never replaced. A running server knows only the old
// one, and with the operator's and the replicas' gone nobody could tell it the new
// one. So when an ACL file knows a system user whose password is lost, that is an
// error too: it has to come back, or someone has to decide.
package secret
