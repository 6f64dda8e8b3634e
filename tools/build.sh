#!/bin/sh
# SPDX-FileCopyrightText: The valkey-render Authors
# SPDX-License-Identifier: Apache-2.0

# tools/build.sh [NAME...]: builds the named tools of tools/go.mod (all without a name)
# unless they are there, and prints the directory that holds them.
#
# They live outside the tree, under a key of everything that decides what they are: a fresh
# checkout starts warm, and an update of tools/go.mod never runs an old program.
set -eu

cd "$(dirname "$0")"

cache=${VALKEY_RENDER_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/valkey-render}
key=$({ cat go.mod go.sum; go env GOVERSION GOOS GOARCH; } | sha256sum | cut -c1-16)
dir=$cache/tools/$key

# Built under another name and then renamed, so that an interrupted build leaves no half a
# tool and two builds at once do not meet.
build() {
	echo "building $2 into $dir (once; minutes on a small machine)" >&2
	mkdir -p "$dir"
	CGO_ENABLED=0 nice go build -trimpath -ldflags='-s -w' -o "$dir/.$2.$$" "$1" >&2
	mv "$dir/.$2.$$" "$dir/$2"
}

missing=
for name in "${@:-.}"; do
	[ "$name" != . ] && [ -x "$dir/$name" ] || missing="$missing $name"
done

if [ -n "$missing" ]; then
	for package in $(go list tool); do
		name=${package##*/}
		case "$missing " in
		*" $name "* | *" . "*) [ -x "$dir/$name" ] || build "$package" "$name" ;;
		esac
	done
fi

for name in "$@"; do
	[ -x "$dir/$name" ] || {
		echo "tools/go.mod names no tool $name" >&2
		exit 1
	}
done
echo "$dir"
