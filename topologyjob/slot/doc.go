// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package slot holds sets of hash slots as ranges: what nodes own, what is moved and
// what nobody owns. It is pure.
package slot
