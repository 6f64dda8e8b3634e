#!/usr/bin/env bash
# SPDX-FileCopyrightText: The valkey-render Authors
# SPDX-License-Identifier: Apache-2.0

# Fails if `make generate`, `make fmt` or `go mod tidy` changes a file. Compares contents
# before and after, not with the last commit, so that it also tells the truth in the middle
# of work. What it changed stays changed: that is the fix.
set -euo pipefail
cd "$(dirname "$0")/.."

before=$(mktemp)
after=$(mktemp)
trap 'rm -f "$before" "$after"' EXIT

contents() {
	git ls-files -z --cached --others --exclude-standard |
		while IFS= read -r -d '' file; do
			[[ ! -f $file ]] || sha256sum -- "$file"
		done | sort -k2
}

contents >"$before"
make generate
make fmt
for module in . tools test test/addons test/charts test/gitops test/kubernetes; do
	go -C "$module" mod tidy
done
contents >"$after"

if ! diff "$before" "$after" >/dev/null; then
	echo "not up to date; now rewritten, review and commit:" >&2
	diff "$before" "$after" | awk '/^[<>]/ { print "  " $3 }' | sort -u >&2
	exit 1
fi
