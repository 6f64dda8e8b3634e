// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package chart makes those files of charts/ that say again what is written elsewhere: the
// definitions of the kinds and the roles as templates, the schema of a ValkeyCluster's
// values, and the tables of values in the readmes. Its tests hold the files to it, and
// write them with -update.
package chart
