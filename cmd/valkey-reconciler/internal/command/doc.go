// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package command is the command line of valkey-reconciler.
//
//go:generate go run ../docgen
package command
