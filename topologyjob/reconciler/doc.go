// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package reconciler watches ValkeyClusters and what belongs to them:
//
//	gather → decide → write status → act
//
// Everything that was seen goes into one struct, packages decision and status say what
// follows from it, and the status is written before anything is done: a Job has its number
// there before it is created. So the reconciler may be killed between any two requests, and
// the next one goes on.
//
// It creates and changes no StatefulSet, Service, ConfigMap, budget or claim. Rights says
// what it may do, and is what the chart grants.
package reconciler
