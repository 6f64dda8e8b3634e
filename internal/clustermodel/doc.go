// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package clustermodel is Valkey servers in cluster mode, in memory: what they believe of
// each other, the slots and keys that they have, how they hear of changes, take each other
// for dead and elect. They answer the commands that package survey and package step send, so
// that the code of both runs against them as it does against real servers, a hundred
// thousand times a minute and with faults at any command.
//
// The rules are those of src/cluster_legacy.c of Valkey 8.0 to 9.1 with
// cluster-allow-replica-migration off. Time passes in ticks; what servers tell each other
// arrives at one of the next, or, with gossip that is late, some time after. Elections and
// slot migrations are decided within one tick. The network between servers is whole: who is
// not heard is down, or is looked for at an address that it has left.
//
// A World is for one goroutine.
package clustermodel
