// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package allocation decides which slots go to which shard. It is pure: the same shares
// give the same moves, and moves that were done in part and are worked out again go on to
// the same end, so that no slot moves twice.
package allocation
