#!/usr/bin/env bash
# SPDX-FileCopyrightText: The valkey-render Authors
# SPDX-License-Identifier: Apache-2.0

# Runs the tests that start real servers: those with Process in their names. Nearly all of
# their time they wait, so that two packages run side by side, with four tests each: more,
# and what they measure is the machine. The packages with the most lines of such tests begin.
# test/ holds modules of its own.
#
# With SHORT set, as in make test, those that are for every version of the server run on one
# of them, which differs from test to test, and scripts in one of the two shells.
set -euo pipefail
cd "$(dirname "$0")/.."

mapfile -t packages < <(
	git grep --untracked -lE '^func Test[A-Za-z0-9_]*Process' -- '*_test.go' ':(exclude)test/' |
		xargs -r wc -l | awk '$2 != "total" { sub("/[^/]*$", "", $2); lines[$2] += $1 } END { for (dir in lines) print lines[dir], "./" dir }' |
		sort -k1,1rn -k2 | cut -d' ' -f2
)
if ((${#packages[@]} == 0)); then
	echo "no process test found" >&2
	exit 1
fi

short=()
[[ -z ${SHORT:-} ]] || short=(-short)
VALKEY_SERVERS=$(test/servers/fetch.sh)
export VALKEY_SERVERS
go test -count=1 -p 2 -parallel 4 -timeout 40m -run Process "${short[@]}" "$@" "${packages[@]}"
