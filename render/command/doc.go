// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package command is the table of server commands, subcommands and categories of
// ACLs: which Valkey version knows each. It is measured on real servers, since a
// single name that a server does not know keeps it from starting.
//
// The build judges the users of a spec by it, so that a misspelt command fails in
// review; the ACL text is written by it, one text for each version.
package command
