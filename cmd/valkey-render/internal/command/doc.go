// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package command is the command line of valkey-render, one file per command.
//
// Every command is a runner struct that owns its flags and gets streams, files
// and environment injected; its run method gathers, calls the library, prints.
// Standard output takes data only, standard error everything said about it.
// exit.go is the one place that maps errors to exit codes.
package command

//go:generate go run ../docgen
