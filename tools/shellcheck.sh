#!/usr/bin/env bash
# SPDX-FileCopyrightText: The valkey-render Authors
# SPDX-License-Identifier: Apache-2.0

# tools/shellcheck.sh [FILE...]: runs shellcheck over the files, or over every shell script
# of the tree. Without a shellcheck on PATH, Debian's package is unpacked into the cache
# with the libraries it needs; nothing is installed.
set -euo pipefail
cd "$(dirname "$0")/.."

cache=${VALKEY_RENDER_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/valkey-render}
root=$cache/shellcheck

fetch() {
	local work
	mkdir -p "$cache"
	work=$(mktemp -d "$cache/shellcheck.XXXXXX")
	# apt fetches as the user _apt, who may not read the cache: as root that is only a warning.
	(
		cd "$work"
		apt-get download -qq shellcheck libgmp10 libffi8 2>/dev/null || {
			apt-get update -qq
			apt-get download -qq shellcheck libgmp10 libffi8
		}
		for package in *.deb; do dpkg -x "$package" root; done
	)
	mv -T "$work/root" "$root" 2>/dev/null || true # another run was first
	rm -rf "$work"
}

shellcheck=(shellcheck)
if ! command -v shellcheck >/dev/null 2>&1; then
	[[ -x $root/usr/bin/shellcheck ]] || fetch
	libraries=$(printf '%s:' "$root"/usr/lib/*-linux-gnu)
	shellcheck=(env "LD_LIBRARY_PATH=${libraries%:}" "$root/usr/bin/shellcheck")
fi

files=("$@")
if ((${#files[@]} == 0)); then
	mapfile -t files < <(
		{
			git ls-files --cached --others --exclude-standard -- '*.sh'
			git grep --untracked -lIE '^#!.*[/ ](ba|da)?sh( |$)' -- . ':!*.md' ':!*.go'
		} | sort -u
	)
fi
"${shellcheck[@]}" --external-sources "${files[@]}"
echo "shellcheck: ${#files[@]} scripts"
