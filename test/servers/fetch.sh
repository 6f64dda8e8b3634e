#!/usr/bin/env bash
# SPDX-FileCopyrightText: The valkey-render Authors
# SPDX-License-Identifier: Apache-2.0
#
# Fetches real Valkey servers for the process tests, and the shells and the
# shell linter that the script tests use, from Debian packages:
#
#   8.0  bookworm-backports      8.1  trixie      9.1  forky
#   tools  dash, busybox-static and shellcheck of bookworm
#
# Nothing is installed: packages are unpacked under the cache directory, and a
# wrapper runs each program with the dynamic loader and the libraries of its own
# suite. Neither root is needed nor the machine's apt is changed; see debian.sh.
#
# Prints the directory that holds 8.0/bin, 8.1/bin, 9.1/bin and tools/bin (the
# value for VALKEY_SERVERS). A second run finds it there and is offline.
#
# Environment:
#   VALKEY_RENDER_CACHE           cache directory
#                                 (default ${XDG_CACHE_HOME:-~/.cache}/valkey-render)
#   VALKEY_RENDER_DEBIAN_MIRROR   a Debian mirror, when this machine's apt has none
#   VALKEY_RENDER_DEBIAN_KEYRING  the keys that sign it
set -euo pipefail

here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
# shellcheck source=debian.sh
. "$here/debian.sh"

# find_loader ROOT: the dynamic loader of that root, by the name all suites share.
find_loader() {
	local file
	for file in "$1"/lib64/ld-linux-*.so.? "$1"/usr/lib64/ld-linux-*.so.? \
		"$1"/lib/ld-linux-*.so.? "$1"/usr/lib/ld-linux-*.so.? \
		"$1"/lib/*/ld-linux-*.so.? "$1"/usr/lib/*/ld-linux-*.so.?; do
		# A link may be absolute and lead out of the root.
		if [ -f "$file" ] && [ ! -L "$file" ]; then
			printf '%s\n' "$file"
			return
		fi
	done
	die "no dynamic loader below $1"
}

# wrap GROUP PROGRAM NAME...: bin/NAME runs rootfs/PROGRAM with its own loader. The
# server learns its own path from argv[0], so that RESTART runs the wrapper again
# and the name decides whether it is a server, a sentinel or a file checker.
wrap() {
	local group=$1 program=$2 loader libs name
	shift 2
	loader=$(find_loader "$stage/$group/rootfs")
	loader=${loader#"$stage/"}
	libs=
	for name in "$stage/$group"/rootfs/lib/*-linux-gnu* "$stage/$group"/rootfs/usr/lib/*-linux-gnu*; do
		[ -d "$name" ] && libs=$libs${libs:+:}$final/${name#"$stage/"}
	done
	[ -f "$stage/$group/rootfs/$program" ] || die "$group has no $program"
	mkdir -p "$stage/$group/bin"
	for name in "$@"; do
		printf '#!/bin/sh\nexec "%s" --argv0 "%s" --library-path "%s" "%s" "$@"\n' \
			"$final/$loader" "$final/$group/bin/$name" "$libs" "$final/$group/rootfs/$program" \
			>"$stage/$group/bin/$name"
		chmod 755 "$stage/$group/bin/$name"
	done
}

# program GROUP NAME: the real file behind rootfs/usr/bin/NAME, below rootfs.
program() {
	local file
	file=$(readlink -f "$stage/$1/rootfs/usr/bin/$2") || die "$1 has no $2"
	case $file in
	"$stage/$1/rootfs/"*) printf '%s\n' "${file#"$stage/$1/rootfs/"}" ;;
	*) die "$1: $2 leads out of its root to $file" ;;
	esac
}

fetch_servers() {
	local version
	for version in 8.0 8.1 9.1; do
		case $version in
		8.0) unpack bookworm "$stage/8.0" valkey-server valkey-tools ;;
		8.1) unpack trixie "$stage/8.1" valkey-server valkey-tools ;;
		9.1) unpack forky "$stage/9.1" valkey-server valkey-tools ;;
		esac
		wrap "$version" "$(program "$version" valkey-server)" valkey-server valkey-sentinel valkey-check-rdb valkey-check-aof
		wrap "$version" "$(program "$version" valkey-cli)" valkey-cli
		wrap "$version" "$(program "$version" valkey-benchmark)" valkey-benchmark
	done
	unpack bookworm "$stage/tools" dash busybox-static shellcheck
	wrap tools "$(program tools shellcheck)" shellcheck
	if [ -e "$stage/tools/rootfs/bin/dash" ]; then
		wrap tools bin/dash dash
		ln -s ../rootfs/bin/busybox "$stage/tools/bin/busybox"
	else
		wrap tools usr/bin/dash dash
		ln -s ../rootfs/usr/bin/busybox "$stage/tools/bin/busybox"
	fi
}

main() {
	local cache key version
	need_debian
	cache=${VALKEY_RENDER_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/valkey-render}/servers
	key=$(cat "$here/debian.sh" "$here/fetch.sh" | sha256sum)
	key=${key:0:16}
	final=$cache/$key
	if [ -d "$final" ]; then
		printf '%s\n' "$final"
		return
	fi
	mkdir -p "$cache"
	if command -v flock >/dev/null; then
		exec 9>"$cache/.lock"
		flock 9
		if [ -d "$final" ]; then
			printf '%s\n' "$final"
			return
		fi
	fi
	work=$(mktemp -d "$cache/.fetch.XXXXXX")
	trap 'rm -rf "$work"' EXIT
	stage=$work/stage
	mkdir -p "$stage"
	prepare_all
	fetch_servers
	mv -T "$stage" "$final" 2>/dev/null || [ -d "$final" ] || die "cannot move the servers to $final"
	for version in 8.0 8.1 9.1; do
		if ! "$final/$version/bin/valkey-server" --version >"$work/version" 2>&1 || ! grep -q "v=$version\." "$work/version"; then
			rm -rf "$final"
			die "the fetched $version server does not run: $(head -n 3 "$work/version")"
		fi
		say "$version: $(cut -d ' ' -f 3 "$work/version")"
	done
	printf '%s\n' "$final"
}

main "$@"
