// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package guard is the source of the admission policies that keep data from being
// deleted by mistake: ValidatingAdmissionPolicies that the API server evaluates by
// itself, with nothing of ours running. One file holds one policy.
//
// Whose an object is, is read from what cannot be edited: a StatefulSet's
// selector, the name of a claim or a Secret. Labels only narrow down which objects
// the server evaluates a policy for. That is on purpose: a policy with parameters
// that the server cannot resolve, because the definition of the ValkeyCluster is
// missing or the server has just started, is answered with failurePolicy before any
// expression is looked at, and must not be a failure of everybody's StatefulSets.
// What a label narrows and a label's loss would open is closed by a policy without
// parameters.
//
// The same objects are written as a file for kubectl and as a template for the chart.
package guard
