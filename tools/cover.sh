#!/usr/bin/env bash
# SPDX-FileCopyrightText: The valkey-render Authors
# SPDX-License-Identifier: Apache-2.0

# Runs the tests of what renders and of what decides where the processors, the locale and the
# time zone are others than in `make test-unit`: none of these makes a difference. Reports
# statement coverage of api and render by package and fails when one of the two is below
# $COVERAGE percent. A statement counts as covered whichever package's test reached it.
# Generated files, and the programs that write them, do not count.
set -euo pipefail
cd "$(dirname "$0")/.."

profile=$(mktemp)
log=$(mktemp)
trap 'rm -f "$profile" "$log"' EXIT

mapfile -t packages < <(go list ./... | grep -E '/(api|render|cmd|topologyjob/(guard|plan|status))(/|$)')
go test -count=1 -exec 'env GOMAXPROCS=1 LC_ALL=tr_TR.UTF-8 TZ=Asia/Kathmandu' -timeout 10m -skip 'Process|TestAPIServer' -coverpkg=./api/...,./render/... -coverprofile="$profile" \
	"${packages[@]}" >"$log" 2>&1 || {
	cat "$log"
	exit 1
}

module=$(go list -m)
awk -v module="$module/" -v least="${COVERAGE:=90}" '
	NR == 1 || /zz_generated|\/generate\// { next }
	{
		# Every test binary reports every block: a block is covered if one of them ran it.
		statements[$1] = $2
		if ($3 > 0) ran[$1] = 1
	}
	END {
		for (block in statements) {
			package = block
			sub(/\/[^\/]*$/, "", package)
			sub("^" module, "", package)
			half = package
			sub(/\/.*/, "", half)
			all[package] += statements[block]; total[half] += statements[block]
			if (block in ran) { hit[package] += statements[block]; reached[half] += statements[block] }
		}
		for (package in all) printf "%6.1f %%  %s\n", 100 * hit[package] / all[package], package | "sort -k3"
		close("sort -k3")
		for (half in total) {
			percent = 100 * reached[half] / total[half]
			printf "%6.1f %%  of %d statements in %s/...\n", percent, total[half], half
			if (percent < least) { printf "coverage of %s is below %s %%\n", half, least; failed = 1 }
		}
		exit failed
	}
' "$profile"
