// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package outcome is how a Job ended: one small JSON document, which the program
// writes as its termination message and the reconciler reads from the pod, and the
// exit code that says the same.
package outcome
