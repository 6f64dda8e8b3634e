// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package plan decides what to do next with a cluster, from what is wanted and one survey.
// It is pure, and a plan prints itself.
//
// A plan is made by an ordered chain of checks. The first one that has steps wins; those
// before it may have said what they wait for, and one that blocks ends the chain. After
// the steps comes another survey and another plan, so a check only has to be right about
// the next move, and being stopped anywhere is like never having started.
//
// The order is what keeps data safe: nothing is assigned, attached or forgotten before
// foreign data, open slots, moved members and lost primaries have been dealt with.
package plan
