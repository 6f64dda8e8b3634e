// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package status works out the status of a ValkeyCluster and of its ValkeyNodes, and the
// events of the transition, from what is wanted and what was seen at one moment. It is
// pure: the caller gathers an Observed, calls Compute, writes what it returns in one patch,
// and then makes the events.
//
// Memory is in the status alone: Compute reads the one before from the ValkeyCluster and
// the ValkeyNodes. Fed its own output with the same Observed it changes nothing and has no
// event, so whoever calls it twice, or stops between two writes, does no harm.
//
// Which Job runs next is decided elsewhere; what was decided comes in as Next, because
// status says what is being done.
package status
