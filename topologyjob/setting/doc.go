// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package setting decides what is to be set on servers that run: live directives, users,
// certificates and passwords. It is pure: it compares what is wanted, as ConfigMaps and
// Secrets have it, with what a server says of itself, and package settle does what comes
// out.
//
// Ours among the live directives are those that the live file has, and every other one of
// the directive table that CONFIG SET can change and that a spec may set: the file no
// longer has it, so it gets the table's default back, whoever had set it. Left alone are
// reserved directives, those of modules, `save`, whose value without a line in the file
// is the pod template's, and `maxclients` below the default, which a server lowers by
// itself where it may open too few files.
package setting
