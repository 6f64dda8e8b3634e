// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package job says how the reconciler names, counts and reads its Jobs. It is pure.
//
// What a Job was started for is in its annotations, so that a reconciler that has just
// started knows as much as one that ran all the time: how often the same was tried, and
// when it may be tried again. How it ended is in the termination message of its pod,
// which is there seconds before the Job is complete.
package job
