// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package traffic writes unique keys to a Valkey Cluster, or to one address, at a steady
// rate and over many connections, remembers what was acknowledged, and reads it all back.
//
// What a write goes through is what clients in general do by themselves: it follows
// redirections, and a connection that turns out to be closed is made anew, once. An error
// after that is a failed write, as an application sees it. The same key is then written
// again when the connection's next write is due, until it is acknowledged: the time from
// when it was due first until then is the stall. So a failure that costs no time is told
// from a stall that no error shows.
//
// Each connection writes to the slots of one shard alone. A shard that does not answer holds
// up its own connections and no others, which tells whose slots stall.
package traffic
