// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

//go:build race

package converge_test

// fewClusters is how many random clusters a usual test run draws.
const fewClusters = 30
