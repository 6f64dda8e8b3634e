// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package render turns ValkeyCluster specs into the Kubernetes objects that run
// them:
//
//	file → load → convert → default → validate → compose → patch → order → write
//
// It is pure: it reads no file, no clock, no environment and no cluster, so the
// same input gives the same bytes on any machine. A caller reads the sources,
// calls load.Parse, then Build, and gives Result.Objects to render/write or to a
// client of its own:
//
//	set, findings := load.Parse(sources, load.Options{})
//	result := render.Build(set, render.Options{})
//	findings = append(findings, result.Findings...).Sorted()
//	text, err := write.YAML(result.Objects)
//
// Nothing is rendered while any finding is an error, also of those that load.Parse
// returned: Build returns them once more. The examples below are compiled and run.
package render
