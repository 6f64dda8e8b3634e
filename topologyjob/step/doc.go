// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package step does the steps of a plan. Each reads again, on the connection that it then
// acts on, what it depends on; acts; and proves by reading back that it happened, since an
// OK may only mean that something was scheduled. Being killed between any two commands is
// harmless, and a step that is done already does nothing.
package step
