// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package clustertest runs pods of a cluster as real valkey-server processes for tests of
// topologyjob. A pod keeps its data directory when it is stopped and started, may come back
// at another address or without its data, and its keys can be counted without going
// through the code under test. Crash stops that code after so many changing commands.
package clustertest
