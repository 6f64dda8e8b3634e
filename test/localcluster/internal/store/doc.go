// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package store keeps what is slow to make, programs, packages and images, in directories
// of the cache named by a hash of everything that decides what they are.
package store
