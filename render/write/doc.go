// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package write turns objects into bytes: one YAML stream, one file for each
// object, or a KRM ResourceList. The same objects give the same bytes.
//
// # Form
//
// Mapping keys are sorted, lists keep their order, lines end in LF and are never
// folded. Text of several lines is a literal block, whatever spaces and tabs it
// holds, so that the valkey.conf in a pod template can be read and compared line
// by line. Text that any version of YAML takes for something else is in double
// quotes.
//
// # What is left out
//
// status, and metadata.creationTimestamp where it is null, as Go types write
// them. Nothing else is pruned: emptyDir: {} and podSelector: {} mean something.
// Whoever makes the objects leaves out what means nothing.
package write
