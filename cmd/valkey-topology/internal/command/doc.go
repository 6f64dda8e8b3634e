// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package command is the command line of valkey-topology.
//
// `run` does one kind of work, which kinds.go lists: a kind is a name, what it is
// for, and a function. Whatever it does, it ends with an outcome.Outcome, which is
// printed, written as the termination message of the pod, and told by the exit code.
package command

//go:generate go run ../docgen
