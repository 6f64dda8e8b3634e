// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package source reads what the commands render: files, directories, standard
// input and kustomizations, into named bytes. All that cannot be read is
// reported at once.
package source
