# shellcheck shell=dash
# SPDX-FileCopyrightText: The valkey-render Authors
# SPDX-License-Identifier: Apache-2.0
#
# Cluster: whether this container goes on as the node of nodes.conf. Identity
# shares fate with data: a primary that comes back empty under its old identity
# empties its replicas too, one that comes back as nobody is replaced by them.
#
#   data kept on the volume                        keep
#   last role replica, or no slots, or no replica  keep
#   data lost, primary with slots and a replica    drop (Reconciler), or keep
#                                                  and start after the election
#                                                  (Rendered: nobody rejoins it)
#
# nodes.conf is never edited. A damaged one (zero bytes, no last line, no line
# of its own: a crash of the node or a full disk) is replaced by the copy that
# probe.sh keeps, which is an older view of the same node, as a node has that
# was away: peers with higher epochs correct it. Without a copy a new node is
# started only if there is no data, because a new node that finds keys claims
# their slots with epoch 0, loses them to the old identity's at the first MEET
# and then deletes the keys.

NODES=$VR_DATA/nodes.conf
NODES_COPY=$VR_STATE/nodes.conf

# has_data: the volume holds something that the server will load.
has_data() {
	local file
	for file in "$VR_DATA"/*.rdb "$VR_DATA"/appendonlydir/*.manifest "$VR_DATA"/*.aof; do
		[ -s "$file" ] && return 0
	done
	return 1
}

# nodes_read FILE: sets MY_ID, MY_FLAGS, MY_SLOTS (count of ranges) and
# REPLICAS (count of usable ones). False when FILE is damaged: each line must
# be whole and the last one is "vars …".
nodes_read() {
	local line id flags primary count=0 last='' primaries=''
	MY_ID='' MY_FLAGS='' MY_SLOTS=0 REPLICAS=0
	[ -s "$1" ] || return 1
	while read -r line; do
		last=$line
		case $line in
		'vars currentEpoch '?*' lastVoteEpoch '?*) continue ;;
		esac
		# id address flags primary ping pong epoch link [slots…]
		# shellcheck disable=SC2086 # the fields are wanted
		set -f && set -- $line && set +f
		[ $# -ge 8 ] || return 1
		id=$1 flags=$3 primary=$4
		case ,$flags, in
		*,myself,*)
			count=$((count + 1))
			MY_ID=$id MY_FLAGS=$flags MY_SLOTS=$(($# - 8))
			;;
		*,fail,* | *,handshake,* | *,noaddr,*) ;;
		*,slave,*) primaries="$primaries $primary" ;;
		esac
	done <"$1"
	case $last in
	'vars currentEpoch '?*) ;;
	*) return 1 ;;
	esac
	[ "$count" = 1 ] || return 1
	for primary in $primaries; do
		[ "$primary" = "$MY_ID" ] && REPLICAS=$((REPLICAS + 1))
	done
	return 0
}

# forget_identity WHY: sets nodes.conf aside, for people; a new ID is made.
forget_identity() {
	say "$1"
	rm -f "$NODES_COPY" 2>/dev/null
	[ ! -e "$NODES" ] || mv -f "$NODES" "$NODES.dropped" || die "$NODES: cannot be set aside"
}

# nodes_damaged: see the head of this file.
nodes_damaged() {
	if [ "${VALKEY_PERSISTED:-no}" != yes ]; then
		forget_identity "$NODES: damaged, and the data is not kept; starting as a new node (the file is now $NODES.dropped)"
	elif nodes_read "$NODES_COPY"; then
		say "$NODES: damaged; going on as node $MY_ID from the copy $NODES_COPY"
		[ ! -e "$NODES" ] || mv -f "$NODES" "$NODES.damaged" || die "$NODES: cannot be set aside"
		replace "$NODES_COPY" "$NODES" || die "$NODES: cannot be written"
	elif has_data; then
		die "$NODES: damaged, no copy of it exists and $VR_DATA holds data; a new node would end up deleting it. If another pod of the shard has the data, delete this pod's claim and pod; else restore $NODES"
	else
		forget_identity "$NODES: damaged, and there is no data; starting as a new node (the file is now $NODES.dropped)"
	fi
}

# nodes_copy: called by probe.sh when the server is ready.
nodes_copy() {
	[ "${VALKEY_PERSISTED:-no}" = yes ] || return 0
	[ "$(digest "$NODES")" = "$(digest "$NODES_COPY")" ] && return 0
	nodes_read "$NODES" && replace "$NODES" "$NODES_COPY"
	return 0
}

identity() {
	local wait_ms
	if [ ! -e "$NODES" ]; then
		# With a copy and data this is a lost file; without data it is a new volume.
		if [ -e "$NODES_COPY" ] && has_data; then
			nodes_damaged
		fi
		return 0
	fi
	if ! nodes_read "$NODES"; then
		nodes_damaged
		return 0
	fi
	if [ "${VALKEY_PERSISTED:-no}" = yes ] && has_data; then
		return 0
	fi
	case ,$MY_FLAGS, in
	*,slave,*) return 0 ;;
	esac
	if [ "$MY_SLOTS" = 0 ] || [ "$REPLICAS" = 0 ]; then
		return 0
	fi
	if [ "${VALKEY_JOBS:-Reconciler}" = Rendered ]; then
		wait_ms=$((2 * ${VALKEY_NODE_TIMEOUT_MS:-15000}))
		say "primary $MY_ID lost its data and has $REPLICAS replica(s): starting in $wait_ms ms, after the election of one"
		nap $(((wait_ms + 999) / 1000))
		return 0
	fi
	forget_identity "primary $MY_ID lost its data and has $REPLICAS replica(s): starting as a new node, so that one of them is promoted and not emptied"
}

# nap SECONDS: as process 1 a shell ignores SIGTERM unless it traps it, and
# runs a trap only when it is not waiting for a child in the foreground.
nap() {
	local child
	sleep "$1" &
	child=$!
	trap 'kill "$child" 2>/dev/null; exit 143' TERM INT
	wait "$child"
	trap - TERM INT
}
