// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package metric defines what the reconciler measures. The series of a cluster go when the
// cluster goes.
package metric
