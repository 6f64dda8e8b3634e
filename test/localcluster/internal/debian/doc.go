// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package debian makes root file systems out of Debian packages, without their maintainer
// scripts and without dpkg's database: as a tar stream or as a directory.
package debian
