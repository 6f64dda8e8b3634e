#!/usr/bin/env bash
# SPDX-FileCopyrightText: The valkey-render Authors
# SPDX-License-Identifier: Apache-2.0

# Runs the tests that start real servers: those with Process in their names. One package
# at a time, since their servers share the machine's cores and their waits are in real time.
# test/ holds modules of its own.
set -euo pipefail
cd "$(dirname "$0")/.."

mapfile -t packages < <(
	git grep --untracked -lE '^func Test[A-Za-z0-9_]*Process' -- '*_test.go' ':(exclude)test/' |
		xargs -r -n1 dirname | sort -u | sed 's|^|./|'
)
if ((${#packages[@]} == 0)); then
	echo "no process test found" >&2
	exit 1
fi

VALKEY_SERVERS=$(test/servers/fetch.sh)
export VALKEY_SERVERS
go test -count=1 -p 1 -timeout 20m -run Process "${packages[@]}"
