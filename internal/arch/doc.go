// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package arch holds no code of the product. Its tests hold the shape of the source tree:
// which package may import which, what the pure half may not touch, and the conventions
// of CONTRIBUTING.md that a program can check. They read the files of the tree, so they
// see a file as soon as it is written, and they name every violation at once.
package arch
