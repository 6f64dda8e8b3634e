// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package image makes container images, one layer each, as docker-archive files, which
// containerd, Docker and kind load.
package image
