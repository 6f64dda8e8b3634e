// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package plan says what a change of rendered objects does to running clusters:
// applied live, rolls pods, grows disks, adds or removes shards, or can never be
// applied. It compares two renderings and knows nothing of what runs.
//
// It follows from the one rule of the renderer: what rolls pods is in the pod
// template, what applies live is in a ConfigMap.
package plan
