// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package client connects to real servers, one at a time: the node.Dialer on
// github.com/valkey-io/valkey-go. It follows no redirect, caches nothing, never retries
// and never reconnects, so what was asked on a connection stays true of it.
package client
