#!/usr/bin/env bash
# SPDX-FileCopyrightText: The valkey-render Authors
# SPDX-License-Identifier: Apache-2.0

# Runs an example on real servers on this machine, with `valkey-render try`: keys are
# written through a cluster client, the spec is edited twice while they are there, and
# they are read again. Works in a temporary directory and leaves nothing behind.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
keys=10000

bold='' plain=''
if [[ -t 1 && -z ${NO_COLOR:-} ]]; then
	bold=$'\e[1m' plain=$'\e[0m'
fi

say() { printf '\n%s%s%s\n' "$bold" "$1" "$plain"; }

# edit FROM TO: replaces one line of the spec at once, and fails if it is not there.
edit() {
	grep -q "$1" cluster.yaml || {
		printf 'demo: the example has no line %s\n' "$1" >&2
		exit 1
	}
	printf "$ sed -i 's/%s/%s/' cluster.yaml\n" "$1" "$2"
	sed "s/$1/$2/" cluster.yaml >edited.yaml
	mv edited.yaml cluster.yaml
}

# ask ADDRESS COMMAND...: the password is in the environment only.
ask() {
	local address=$1
	shift
	REDISCLI_AUTH=$VALKEY_PASSWORD valkey-cli -h "${address%:*}" -p "${address##*:}" "$@"
}

# until_true WHAT COMMAND...: waits for a command to succeed.
until_true() {
	local what=$1 tries=0
	shift
	until "$@"; do
		if ((++tries > 600)); then
			printf 'demo: still not so: %s\n' "$what" >&2
			exit 1
		fi
		sleep 0.1
	done
	printf '  %s\n' "$what"
}

timeout_is_60_everywhere() {
	local address
	for address in ${VALKEY_ADDRESSES//,/ }; do
		[[ $(ask "$address" CONFIG GET timeout) == *60 ]] || return 1
	done
}

every_primary_has_its_replica() {
	local address
	for address in ${VALKEY_ADDRESSES//,/ }; do
		[[ $(ask "$address" INFO replication) == *state=online* ]] || return 1
	done
}

# The command that `valkey-render try` runs beside the cluster.
if [[ ${1:-} == application ]]; then
	say "7. An application writes $keys keys through a cluster client"
	demo write "$keys"
	say '8. An edit that applies live: CONFIG SET, and no server restarts'
	edit 'timeout: "300"' 'timeout: "60"'
	until_true 'timeout is 60 on every server' timeout_is_60_everywhere
	say '9. An edit that adds a replica to each shard'
	edit 'replicasPerShard: 0' 'replicasPerShard: 1'
	until_true 'every primary has its replica in sync' every_primary_has_its_replica
	say '10. The slot map, and the keys once more'
	ask "${VALKEY_ADDRESSES%%,*}" CLUSTER NODES | sort -k 2 |
		awk '{ sub(/@.*/, "", $2); sub(/myself,/, "", $3); sub(/slave/, "replica", $3); sub(/master/, "primary", $3); print "  " $2, $3, $9 }'
	demo read "$keys"
	exit
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# VALKEY_RENDER_BIN: a directory with the programs, built already.
if [[ -z ${VALKEY_RENDER_BIN:-} ]]; then
	(cd "$here/.." && go build -o "$work/bin/" ./cmd/valkey-render ./internal/demo)
	VALKEY_RENDER_BIN=$work/bin
fi
export PATH=$VALKEY_RENDER_BIN:$PATH

servers=()
if [[ $(valkey-server --version 2>/dev/null || true) != *v=9.1.* ]]; then
	servers=(--server "$("$here/../test/servers/fetch.sh")")
fi

cd "$work"
sed 's/shards: 6/shards: 3/; s/replicasPerShard: 1/replicasPerShard: 0/; s/4Gi/256Mi/' "$here/cache-cluster/cluster.yaml" >cluster.yaml
say '6. The same spec runs here: real servers, started from what it renders to'
# shellcheck disable=SC2016 # shown as it would be typed
printf '$ valkey-render try -f cluster.yaml -- application\n'
valkey-render try -f cluster.yaml "${servers[@]}" -- "$here/demo-servers.sh" application
