#!/usr/bin/env bash
# SPDX-FileCopyrightText: The valkey-render Authors
# SPDX-License-Identifier: Apache-2.0

# Renders an example as one would keep it in Git, changes the spec five times, and shows
# what a reviewer would see. Works in a temporary directory and leaves nothing behind.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

bold='' red='' green='' plain=''
if [[ -t 1 && -z ${NO_COLOR:-} ]]; then
	bold=$'\e[1m' red=$'\e[31m' green=$'\e[32m' plain=$'\e[0m'
fi

say() { printf '\n%s%s%s\n' "$bold" "$1" "$plain"; }

# expect STATUS COMMAND...: shows and runs the command; anything but STATUS ends the demo.
expect() {
	local want=$1 got=0
	shift
	printf '$ %s\n' "$*"
	"$@" >"$work/out" 2>&1 || got=$?
	if ((got != want)); then
		cat "$work/out"
		printf 'demo: exit status %d, expected %d\n' "$got" "$want" >&2
		exit 1
	fi
}

# difference: what the change does, the first file of the unified diff in out, and how
# many more files differ.
difference() {
	awk -v red="$red" -v green="$green" -v bold="$bold" -v plain="$plain" '
		/^plan: / { print "  " bold $0 plain; next }
		/: error VR/ { print "  " red $0 plain; next }
		/^--- / { next }
		/^\+\+\+ / { if (!files++) print "    " $2; next }
		files > 1 || /^rendered: / { next }
		/^-/ { print "    " red $0 plain; next }
		/^\+/ { print "    " green $0 plain; next }
		/^[ @]/ { print "    " $0 }
		END { if (files > 1) printf "  more files that differ: %d\n", files - 1 }
	' "$work/out"
}

# edit FROM TO: replaces one line of the spec, and fails if it is not there.
edit() {
	grep -q "$1" cluster.yaml || {
		printf 'demo: the example has no line %s\n' "$1" >&2
		exit 1
	}
	sed "s/$1/$2/" cluster.yaml >edited.yaml
	mv edited.yaml cluster.yaml
}

# VALKEY_RENDER_BIN: a directory with the program, built already.
if [[ -z ${VALKEY_RENDER_BIN:-} ]]; then
	(cd "$here/.." && go build -o "$work/bin/" ./cmd/valkey-render)
	VALKEY_RENDER_BIN=$work/bin
fi
PATH=$VALKEY_RENDER_BIN:$PATH
mkdir "$work/git"
cd "$work/git"
sed 's/shards: 6/shards: 3/' "$here/cache-cluster/cluster.yaml" >cluster.yaml

say '1. A spec becomes manifests, which are kept beside it in Git'
sed '/^#/d; s/^/    /' cluster.yaml
expect 0 valkey-render build -f cluster.yaml --output-dir rendered
printf '  %d objects:\n' "$(find rendered -type f | wc -l)"
find rendered -type f | sed 's|.*/||' | sort | awk '{ print "    " $0 }'
expect 0 valkey-render check -f cluster.yaml rendered

say '2. timeout: 300 becomes 60. The server takes it while it runs, so it is in a ConfigMap'
edit 'timeout: "300"' 'timeout: "60"'
expect 1 valkey-render check -f cluster.yaml rendered
difference
expect 0 valkey-render check -f cluster.yaml rendered --update

say '3. tcp-backlog: 1024 is read only when a server starts, so it is in the pod template'
edit 'timeout: "60"' 'timeout: "60"\n    tcp-backlog: "1024"'
expect 1 valkey-render check -f cluster.yaml rendered
difference
expect 0 valkey-render check -f cluster.yaml rendered --update

say '4. A shard less: the reconciler drains it first'
edit 'shards: 3' 'shards: 2'
expect 1 valkey-render check -f cluster.yaml rendered
awk '/^plan: / { print "  " $0 }' "$work/out"

say '5. With deletionPolicy: Allow it could be pruned with its data, so it is refused'
edit 'shards: 2' 'shards: 2\n  deletionPolicy: Allow'
expect 2 valkey-render check -f cluster.yaml rendered --update
awk '/^plan: / || /: error VR/ { print "  " $0 }' "$work/out"

say '6. A typo does not get that far'
edit 'maxmemory-policy' 'maxmemory-polcy'
expect 2 valkey-render validate -f cluster.yaml
sed 's/^/    /' "$work/out"
