// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package patch applies spec.patches to the composed objects with kustomize's
// own filters: strategic merge patches and JSON 6902 operations, selected by
// regular expressions and label selectors as in a kustomization.
//
// A patch is all or nothing: one that is refused, fails or matches nothing is
// an error at its index and changes nothing, and the patches after it are still
// tried, so that one run names every one that is wrong.
//
// # What a patch may not touch
//
// docs/patches.md has the list for people; the code has it in refusals.fields
// (fields that stay as a whole), refusals.metadata, refusals.kind (what only one
// kind has), refusals.podFields and container.compare. Where a field of the spec
// sets the same thing, the error names it.
//
// What holds for lists: entries that were rendered stay, more may be added. Those of
// env stay in their order, because $(NAME) is expanded from what is above it.
//
// # What comes out
//
// Objects that a patch changed are decoded strictly into their types, and looked at
// for what a decoder does not see: two entries of one key, which server-side apply
// refuses, names and labels of a wrong form, and sizes. What was wrong before the
// patch is not held against it.
//
// A patch may delete PodDisruptionBudgets, NetworkPolicies, PodMonitors,
// PrometheusRules and the dashboard's ConfigMap, and nothing else.
//
// # Order
//
// kustomize puts list entries that a strategic merge patch adds before those
// that were there.
package patch
