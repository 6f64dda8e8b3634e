// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package replication decides what to do next with servers that have no slots: topologies
// Replication, Sentinel and Standalone. It is pure, as package plan is, and makes its plans
// the same way: an ordered chain of checks over one survey, the first that has steps wins.
//
// What data a server holds is told by its history: a replication ID up to an offset, and
// the history that one began in. A server that starts anew has another history, and one
// that loaded an AOF does not know which it was. Nobody is made to take another's data
// unless its own is provably in there, or older, or nothing; otherwise a human says whose
// data to keep. And nobody is promoted while somebody else may be the primary.
//
// With sentinels it is they who promote. As long as they can, the Job does not; after their
// time it takes the primary from them first.
package replication
