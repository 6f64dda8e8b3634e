#!/usr/bin/env bash
# SPDX-FileCopyrightText: The valkey-render Authors
# SPDX-License-Identifier: Apache-2.0
#
# packages.sh DIR GROUP=SUITE:PACKAGE,PACKAGE... ...: downloads, for each group, the
# packages of that Debian suite and the libraries they need into DIR/GROUP/*.deb.
# Suites: bookworm (with its backports), trixie, forky. See debian.sh.
set -euo pipefail

here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
# shellcheck source=debian.sh
. "$here/debian.sh"

main() {
	local dir=$1 group name suite packages
	shift
	need_debian
	mkdir -p "$dir"
	work=$(mktemp -d "$dir/.fetch.XXXXXX")
	trap 'rm -rf "$work"' EXIT
	prepare_all
	for group in "$@"; do
		name=${group%%=*} suite=${group#*=}
		IFS=, read -r -a packages <<<"${suite#*:}"
		download "${suite%%:*}" "$dir/$name" "${packages[@]}"
	done
}

[ $# -ge 2 ] || die "usage: packages.sh DIR GROUP=SUITE:PACKAGE,... ..."
main "$@"
