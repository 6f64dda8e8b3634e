#!/usr/bin/env bash
# SPDX-FileCopyrightText: The valkey-render Authors
# SPDX-License-Identifier: Apache-2.0

# Runs every fuzz target for $FUZZTIME, two at a time with one worker each. An input that
# fails is kept by go test in testdata/fuzz/<target>/ of the package: commit it with the fix.
set -euo pipefail
cd "$(dirname "$0")/.."

mapfile -t targets < <(
	git grep --untracked -lE '^func Fuzz' -- '*_test.go' |
		xargs -r -n1 dirname | sort -u |
		while read -r dir; do
			go test -list '^Fuzz' "./$dir" | awk -v dir="./$dir" '/^Fuzz/ { print dir, $1 }'
		done
)
if ((${#targets[@]} == 0)); then
	echo "no fuzz target found" >&2
	exit 1
fi
printf 'fuzzing %d targets for %s each\n' "${#targets[@]}" "${FUZZTIME:=30s}"

VALKEY_SERVERS=$(test/servers/fetch.sh)
export FUZZTIME VALKEY_SERVERS

# The end of the time can hit go test between two inputs: it then says "context deadline
# exceeded" and fails although no input did. The same words end a run whose last input never
# came to an end: then the last three reports say that nothing was executed, "(0/sec)".
# shellcheck disable=SC2016 # expanded by the inner shell
printf '%s\n' "${targets[@]}" | xargs -P 2 -L 1 bash -c '
	set -euo pipefail
	if out=$(timeout 30m go test -run "^$" -fuzz "^$1\$" -fuzztime "$FUZZTIME" -parallel 1 "$0" 2>&1); then
		printf "ok   %s %s: %s\n" "$0" "$1" "$(grep -oE "execs: [0-9]+" <<<"$out" | tail -1)"
	elif grep -q "context deadline exceeded" <<<"$out" && ! grep -q "Failing input" <<<"$out" &&
		(($(grep "execs: " <<<"$out" | tail -3 | grep -c "(0/sec)" || true) < 3)); then
		printf "ok   %s %s: out of time\n" "$0" "$1"
	else
		printf "FAIL %s %s\n%s\n" "$0" "$1" "$out"
		exit 1
	fi
'
