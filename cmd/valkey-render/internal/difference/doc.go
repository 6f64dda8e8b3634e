// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package difference compares a rendering with the one that is committed, as
// unified diffs.
package difference
