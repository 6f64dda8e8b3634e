#!/usr/bin/env bash
# SPDX-FileCopyrightText: The valkey-render Authors
# SPDX-License-Identifier: Apache-2.0

# tools/shellcheck.sh [FILE...]: runs shellcheck over the files, or over every shell script
# of the tree. The program comes with the real servers, so that all machines run the same.
set -euo pipefail
cd "$(dirname "$0")/.."

servers=$(test/servers/fetch.sh)

files=("$@")
if ((${#files[@]} == 0)); then
	mapfile -t files < <(
		{
			git ls-files --cached --others --exclude-standard -- '*.sh'
			git grep --untracked -lIE '^#!.*[/ ](ba|da)?sh( |$)' -- . ':!*.md' ':!*.go'
		} | sort -u
	)
fi
"$servers/tools/bin/shellcheck" --external-sources --source-path=SCRIPTDIR "${files[@]}"
echo "shellcheck: ${#files[@]} scripts"
