// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package directive is the table of valkey.conf and sentinel.conf directives of
// every supported Valkey version: which names exist, which values each takes,
// whether CONFIG SET changes it while the server runs, and which ones belong to
// the renderer.
//
// The table, directives.json, is measured on real servers by the generate command
// below; what no server can say (reasons, syntaxes, Valkey 9.0) is in
// generate/overlay.yaml. A directive is Live only if the servers accept the same
// values by CONFIG SET and at startup, for a value that is applied live is also in
// the file that the next start reads. What depends on the build or the host is
// Restart.
//
// Check, CheckAll and Canonical judge values; Line turns them into configuration
// text and is the only place that does.
package directive

//go:generate go run ./generate -output directives.json
