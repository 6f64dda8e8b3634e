// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package process finds and ends the processes of a cluster by a mark in their environment,
// which no crash can lose as it could a file of process ids.
package process
