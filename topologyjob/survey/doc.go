// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package survey asks every pod of a topology what it is and what it believes, all at
// once and each within a bounded time. The result, a View, is plain data: what each node
// says of itself, what it believes of the others, and what follows from all of it.
//
// A node is who its node ID says. The address that is dialled is the pod's; addresses in
// CLUSTER NODES are stale, meant for clients, or "?", and only shown.
package survey
