// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package converge is the loop of a Job: survey, plan, act, until the plan is empty, blocked
// or out of time. Stopped at any command and started again it ends in the same place,
// since it remembers nothing: every pass begins with what the servers say.
package converge
