// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package network joins the hosts of a cluster: a bridge in the network namespace of the
// control host, and a cable from it to the namespace of every node. Nothing of it is in the
// machine's own namespace, and nothing leads out.
package network
