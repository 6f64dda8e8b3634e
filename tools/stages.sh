#!/usr/bin/env bash
# SPDX-FileCopyrightText: The valkey-render Authors
# SPDX-License-Identifier: Apache-2.0

# tools/stages.sh TARGET...: runs the make targets one after the other, each to its end
# whatever happened to the one before, and closes with a table of results and times.
# Exit status 1 if any failed.
set -euo pipefail
cd "$(dirname "$0")/.."

rows=()
failed=0
begin=$SECONDS
for stage in "$@"; do
	printf '\n==> make %s\n' "$stage"
	start=$SECONDS
	result=passed
	make "$stage" || { result=FAILED failed=$((failed + 1)); }
	rows+=("$(printf '%-14s %-7s %3dm%02ds' "$stage" "$result" $(((SECONDS - start) / 60)) $(((SECONDS - start) % 60)))")
done

printf '\n==> results\n'
printf '%s\n' "${rows[@]}"
printf '%-14s         %3dm%02ds\n' all $(((SECONDS - begin) / 60)) $(((SECONDS - begin) % 60))
printf 'stages: %d passed, %d failed\n' $(($# - failed)) "$failed"
((failed == 0))
