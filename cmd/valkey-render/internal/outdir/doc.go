// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package outdir keeps a directory of rendered files: it writes what changed,
// removes what is no longer rendered, and touches nothing that valkey-render
// did not write. A file is ours when its first line is
// write.Header.
package outdir
