// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package product makes the image of the product as the Dockerfile does, without
// Docker: the programs, static, on nothing, run by nobody.
package product
