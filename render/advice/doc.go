// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package advice tells what a valid ValkeyCluster risks: values that the API
// accepts and the renderer honours, but that will hurt at three in the morning.
// Every piece of advice has a stable code and a page in docs/findings.md.
package advice
