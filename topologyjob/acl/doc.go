// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package acl writes the ACL files of data pods and sentinels from users and the
// hashes of their passwords. It is pure: whoever holds the Secrets hands in what
// is in them, and writes the result to the Secret <cluster>-acl.
//
// There is one text for each minor version, because a single command that a
// server does not know keeps it from starting; and one more for sentinels, which
// know no command of a data server. Servers read the file when they start; a
// running one is changed by ACL SETUSER with User.Rules, since ACL LOAD crashes a
// replica of 8.0.1.
//
// Passwords never appear, only their SHA-256. A user without a password, or with
// an empty one, is an error: it never becomes a user without password.
package acl
