// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package order puts rendered objects into stages and gives them a total order,
// so that output, goldens and logs are the same for any order of the input.
package order
