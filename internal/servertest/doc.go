// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package servertest runs real valkey-server processes for tests.
//
// The servers come from test/servers/fetch.sh: 8.0, 8.1 and 9.1, each run with
// the libraries of its own distribution. Dir finds them (the environment
// variable VALKEY_SERVERS, else what fetch.sh prints) and fails the test with the
// command to run when they are missing; nothing is ever skipped.
//
// Start runs a server on a unix socket, or on a loopback port, in a directory of
// its own and stops it with the test. Launch and Try do the same without a test,
// for generators: Try answers whether a server accepts a configuration, and with
// what words it refuses it.
package servertest
