# shellcheck shell=dash
# SPDX-FileCopyrightText: The valkey-render Authors
# SPDX-License-Identifier: Apache-2.0
#
# Cluster: when this container may go on as the node of nodes.conf. Identity
# shares fate with data: a primary that comes back empty empties its replicas.
#
#   data kept on the volume                      go on
#   last role replica, no slots, or no replica   go on
#   data lost, primary with slots and a replica  go on once no replica of the
#                                                shard waits for its data
#
# Coming back under a new identity instead is no way out: the address is the same,
# the replica connects to it again within a second, and if it is not elected by
# then it takes the empty data of what it thinks is its primary. So nothing
# listens on the data port until a replica has been promoted (by the others, or by
# a Job when these have no majority); this node then becomes its replica by
# itself. What makes the others notice within a second is a stand-in: a server
# without data that listens on the bus port only, under another identity, so that
# they see at once that the node they knew is not at its address any more.
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

# nodes_read FILE: sets MY_ID, MY_FLAGS, MY_SLOTS (count of ranges) and REPLICAS
# (count of those with an address). False when FILE is damaged: each line must be
# whole and the last one is "vars …".
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
		*,handshake,* | *,noaddr,*) ;;
		# One that is said to have failed counts: the file may be older than its
		# return, and emptying it is worse than waiting for a Job.
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

# nodes_copy: called by probe.sh when the server is ready. The copy is written after
# the file was read, so a copy that is the newer one is the same, unless the server
# replaced its file in between: both are compared then.
nodes_copy() {
	[ "${VALKEY_PERSISTED:-no}" = yes ] || return 0
	[ "$NODES_COPY" -nt "$NODES" ] && return 0
	for _ in 1 2 3; do
		nodes_read "$NODES" && replace "$NODES" "$NODES_COPY" || return 0
		[ "$(digest "$NODES")" != "$(digest "$NODES_COPY")" ] || return 0
	done
}

identity() {
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
	say "primary $MY_ID lost its data and has $REPLICAS replica(s): starting once one of them is promoted"
	await_promotion "$@"
}

# stand_in ARGUMENTS…: starts the server on the bus port. STAND_IN is its process.
# The peers of 8.0 take a node with another identity for one without an address,
# and never declare such a node failed: there the node timeout must pass.
stand_in() {
	local dir=$VR_RUN/stand-in
	[ "${VALKEY_VERSION:-8.0}" != 8.0 ] || return 0
	# That of a start which was killed alone has the port.
	[ ! -S "$dir/s" ] || timeout 5 valkey-cli -s "$dir/s" SHUTDOWN NOSAVE NOW FORCE >/dev/null 2>&1 </dev/null
	rm -rf "$dir"
	mkdir -p "$dir" || return 0
	# The last of several values counts. A server must listen somewhere.
	valkey-server "$VR_ROOT/config/valkey.conf" "$@" --dir "$dir" --cluster-config-file nodes.conf \
		--port 0 --tls-port 0 --unixsocket s --cluster-port $((VR_PORT + 10000)) \
		--appendonly no --save '' --aclfile '' --unixsocketperm 700 >/dev/null 2>&1 </dev/null 8>&- &
	STAND_IN=$!
}

stand_in_ends() {
	[ -n "$STAND_IN" ] || return 0
	kill -9 "$STAND_IN" 2>/dev/null
	wait "$STAND_IN" 2>/dev/null
	STAND_IN=''
	rm -rf "$VR_RUN/stand-in"
}

# node_timeout_ms: cluster-node-timeout as this server is about to use it. It is a
# live directive, so it is in no environment: a change would roll the pods.
node_timeout_ms() {
	local value=${VALKEY_NODE_TIMEOUT_MS:-$(directive cluster-node-timeout "$LIVE_USED")}
	whole "$value" || value=15000
	printf '%s\n' "$value"
}

# await_promotion ARGUMENTS…: returns when a pod of the shard is a primary with
# data, or none is a replica with data. What a pod said last stands until it says
# something else: one that held data and does not answer holds it still. One that
# held none and does not answer is given two node timeouts, and one that was never
# heard of at least UNHEARD_SECONDS, unless its host says that no server is there:
# names may not be known for as long. A replica with data is waited for without end
# where a Job will promote it, and for ten node timeouts where there is none.
UNHEARD_SECONDS=20
await_promotion() {
	local begin silence node_timeout waited
	node_timeout=$(($(node_timeout_ms) / 10))
	STAND_IN=''
	trap 'stand_in_ends; exit 143' TERM INT
	stand_in "$@"
	begin=$(now)
	shard "$begin"
	while :; do
		shard_view
		waited=$(($(now) - begin))
		if [ "$PROMOTED" = yes ]; then
			say "another pod of the shard is its primary now"
			break
		elif [ "$HOLDING" = 0 ]; then
			silence=$((2 * node_timeout))
			if [ "$UNHEARD" != 0 ] && [ "$silence" -lt $((UNHEARD_SECONDS * 100)) ]; then
				silence=$((UNHEARD_SECONDS * 100))
			fi
			if [ "$SILENT" = 0 ] || [ $(($(now) - SINCE)) -ge "$silence" ]; then
				say "no other pod of the shard holds data ($SILENT did not answer)"
				break
			fi
		elif [ "${VALKEY_JOBS:-Reconciler}" = Rendered ] && [ "$waited" -ge $((10 * node_timeout)) ]; then
			say "no replica was promoted in $((waited / 100)) s, and no Job will do it"
			break
		fi
		sleep 0.2
	done
	stand_in_ends
	stop_on_term
}

# shard TIME: sets SHARD to "N|TIME|unknown …", the shard's other pods: the number
# of each in a survey, when it was last heard of, and what it said then.
shard() {
	local n=0 entry
	SHARD=''
	for entry in ${VALKEY_PEERS:-}; do
		split "$entry" "$VR_PORT"
		is_me "$HOST" "$PORT" || SHARD="$SHARD $n|$1|unknown"
		n=$((n + 1))
	done
}

# shard_view: asks the pods of SHARD, and keeps there what they say. PROMOTED is
# yes when one is a primary with data, HOLDING counts those that were replicas
# with data when they last answered, SILENT those without an answer now, of which
# SINCE is when the last one was heard of, and UNHEARD those of them that never
# were and may be there.
shard_view() {
	local dir=$VR_RUN/shard.$$ pod n since state at before=$SHARD
	survey "$dir" 1 "$VR_PORT" "${VALKEY_PEERS:-}" INFO replication keyspace persistence
	at=$(now)
	PROMOTED=no HOLDING=0 SILENT=0 UNHEARD=0 SINCE=0 SHARD=''
	for pod in $before; do
		n=${pod%%|*} state=${pod##*|} since=${pod#*|}
		since=${since%|*}
		shard_state "$dir/$n"
		if [ -n "$STATE" ]; then
			since=$at state=$STATE
		else
			SILENT=$((SILENT + 1))
			[ "$since" -le "$SINCE" ] || SINCE=$since
			case $state$REPLY in
			*'Connection refused'*) ;;
			unknown*) UNHEARD=$((UNHEARD + 1)) ;;
			esac
		fi
		case $state in
		promoted) PROMOTED=yes ;;
		holding) HOLDING=$((HOLDING + 1)) ;;
		esac
		SHARD="$SHARD $n|$since|$state"
	done
	rm -rf "$dir"
}

# shard_state FILE: sets STATE to what the pod of a survey's file is: promoted,
# holding or empty, or to nothing when it gave no such answer.
shard_state() {
	local data=no
	STATE='' REPLY=''
	[ -f "$1" ] || return 0
	answer "$1"
	case $NL$REPLY in
	*"${NL}db"* | *"${NL}loading:1"*) data=yes ;;
	esac
	case $(field "$REPLY" role)-$data in
	master-yes) STATE=promoted ;;
	slave-yes) STATE=holding ;;
	master-no | slave-no) STATE=empty ;;
	esac
}

# nap SECONDS: a shell runs a trap only when it is not waiting for a child in the
# foreground.
nap() {
	local child
	sleep "$1" &
	child=$!
	trap 'kill "$child" 2>/dev/null; exit 143' TERM INT
	wait "$child"
	stop_on_term
}
