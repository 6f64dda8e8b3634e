// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package node says what a server is asked and what it answers: the connection that
// surveys and steps speak through, and the parsers of CLUSTER NODES, INFO, CLUSTER INFO
// and CLUSTER GETSLOTMIGRATIONS. It is pure: package client dials real servers, and tests
// put a model of a server, or a wrapper that stops after so many commands, in its place.
package node
