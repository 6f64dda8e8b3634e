// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package conftest proves rendered configuration on real servers: Accept starts a
// valkey-server of each version with what a pod of a ValkeyCluster would get, and
// compares CONFIG GET with what was asked.
package conftest
