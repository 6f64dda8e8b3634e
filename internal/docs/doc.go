// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package docs holds the tests that keep docs/ true: every field, condition,
// reason, event and finding has its place there, what is quoted is what the code
// does, links lead somewhere, and the commands of the guides run.
package docs
