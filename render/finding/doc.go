// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package finding is what the renderer has to say about its input: one Finding
// per violation or warning, with a stable code and the place in the source.
//
// A List is sorted and free of duplicates (see List.Sorted), so that the same
// input gives the same bytes in every output form: Text, JSON, SARIF and
// GitHub annotations.
//
// Codes are stable for ever. Their first two digits are the area:
//
//	VR00xx  reading YAML
//	VR01xx  the schema, and rules of the spec
//	VR02xx  directives of valkey.conf and sentinel.conf
//	VR03xx  patches
//	VR04xx  names, and rules across objects of one run
//	VR05xx  parts of the spec that this version does not render yet
//	VR06xx  golden directories (check)
//	VR1xxx  warnings: rendered, but worth a look
package finding
