// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package system is everything that the commands take from the machine they
// run on: streams, files and environment. Commands get it injected, so that a
// test can drive them without touching the process.
package system
