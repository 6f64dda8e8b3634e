# shellcheck shell=dash
# SPDX-FileCopyrightText: The valkey-render Authors
# SPDX-License-Identifier: Apache-2.0
#
# Replication and Sentinel: the role a data container starts in. Roles are in no
# file, so they are asked for at every start, within ROLE_SECONDS overall:
#
#   another server is the primary      replicate it
#   nobody can be asked, or unsure     start fenced; Sentinel or a Job promotes
#   own history and nobody ahead       oneself
#
# Fenced is: replica of port 1 of the loopback address of the pod's family.
# Nothing listens there and nothing leaves the pod, so unlike an address that is
# merely unused nobody can answer and be sent the replication password.
#
# Own history, proved by all of:
#   - the last server here was the primary of history R when it was last ready
#     (probe.sh writes state/role);
#   - it stopped cleanly: it deletes its pidfile at the end, after the last fsync
#     of an AOF, and the pidfile is in the data volume. A killed server may lack
#     what its replicas got (a write to the AOF may be two seconds behind them);
#   - the file that will be loaded is the one it stopped with, or was made of it
#     (persist.sh): the AOF, if it had one, else an RDB whose repl-id is R. A clean
#     stop is no proof that there was a last save (SHUTDOWN NOSAVE, no save points):
#     how far such a file goes is in it;
#   - every other pod of the shard answers and is a replica in history R, which
#     only this server has written, and no further than the file, or is empty and
#     not loading.

ROLE_SECONDS=10
ROLE_FILE=$VR_STATE/role
PIDFILE=$VR_STATE/server.pid

fence_address() {
	case $POD_IP in
	*:*) printf '::1' ;;
	*) printf '127.0.0.1' ;;
	esac
}

# role_note TEXT: called by probe.sh with INFO when the server is ready. Written
# only when it changes: an offset here would be a write a second.
role_note() {
	local text=role key old=''
	for key in role master_replid aof_enabled; do
		value "$1" "$key"
		text="$text $VALUE"
	done
	text="$text $POD_IP"
	[ ! -f "$ROLE_FILE" ] || IFS= read -r old <"$ROLE_FILE"
	[ "$text" = "$old" ] && return 0
	printf '%s\n' "$text" >"$ROLE_FILE.new" 2>/dev/null && mv -f "$ROLE_FILE.new" "$ROLE_FILE" 2>/dev/null
	return 0
}

# role_forget_aof: a record of a server with an AOF is none any more.
role_forget_aof() {
	local aof=''
	read -r _ _ _ aof _ 2>/dev/null <"$ROLE_FILE"
	[ "$aof" != 1 ] || rm -f "$ROLE_FILE"
}

# running: marks the volume as one with a server that has not stopped cleanly.
# The server writes the same file itself and deletes it at the end, but where it
# cannot write it, it only says so.
running() {
	printf '%s\n' $$ >"$PIDFILE" 2>/dev/null || rm -f "$ROLE_FILE" 2>/dev/null
}

# own_history: sets HISTORY to the replication ID that this volume holds all of, and
# OFFSET to how far if a file says so; false without one, with WHY. Also sets
# FORMER_IP.
own_history() {
	local word role aof rdb
	HISTORY='' OFFSET='' FORMER_IP='' WHY="it has no record of a role"
	read -r word role HISTORY aof FORMER_IP _ 2>/dev/null <"$ROLE_FILE" || return 1
	[ "$word" = role ] || return 1
	WHY="it was last seen as a replica"
	[ "$role" = master ] || return 1
	WHY="the data is not kept"
	[ "${VALKEY_PERSISTED:-no}" = yes ] || return 1
	WHY="the last server did not stop cleanly"
	[ ! -e "$PIDFILE" ] || return 1
	WHY="no file holds what the last server had"
	if [ "$(directive appendonly "$VR_ROOT/config/valkey.conf" "$LIVE_USED")" = yes ]; then
		[ "$aof" = 1 ] && [ -s "$AOF/$AOF_MANIFEST" ] && return 0
		# A base file with a repl-id is an RDB that this start made an AOF of.
		set -- "$AOF"/*.base.rdb
	else
		# An AOF is set aside when all of it is in the RDB, until that was loaded.
		[ "$aof" = 1 ] && [ -s "$AOF_CONVERTED/$AOF_MANIFEST" ] && return 0
		set -- "$RDB"
	fi
	for rdb in "$@"; do
		if rdb_history "$rdb" && [ "$RDB_ID" = "$HISTORY" ]; then
			OFFSET=$RDB_OFFSET
			return 0
		fi
	done
	return 1
}

# peers_view: asks the shard's other pods. OTHERS counts the primaries among
# them, HOST_PRIMARY and PORT_PRIMARY are the last one's. AHEAD is empty when
# every one answered and none can hold a write that HISTORY lacks.
peers_view() {
	local dir=$VR_RUN/peers.$$ file expected got=0
	OTHERS=0 AHEAD='' HOST_PRIMARY='' PORT_PRIMARY=''
	expected=$(others)
	survey "$dir" 2 "$VR_PORT" "${VALKEY_PEERS:-}" INFO replication keyspace persistence
	for file in "$dir"/*; do
		[ -f "$file" ] || continue
		answer "$file"
		case $(field "$REPLY" role) in
		master)
			got=$((got + 1)) OTHERS=$((OTHERS + 1))
			# shellcheck disable=SC2153 # answer sets them
			HOST_PRIMARY=$HOST PORT_PRIMARY=$PORT
			;;
		slave)
			got=$((got + 1))
			peer_behind || AHEAD="$AHEAD $HOST:$PORT holds $MORE;"
			;;
		esac
	done
	rm -rf "$dir"
	[ "$got" = "$expected" ] || AHEAD="$AHEAD $((expected - got)) of $expected other pods did not answer;"
}

# peer_behind: the replica whose INFO is REPLY holds nothing that HISTORY lacks up to
# OFFSET, or else MORE.
peer_behind() {
	local key
	if [ "$(field "$REPLY" master_replid)" = "${HISTORY:-none}" ]; then
		[ -n "$OFFSET" ] || return 0
		MORE="writes of this history that the file here lacks"
		# What it applied, what it received, and what it could hand on: each may be
		# the last to be known, while it looks for a primary.
		for key in slave_repl_offset slave_read_repl_offset master_repl_offset; do
			value "$REPLY" "$key" && whole "$VALUE" && [ "$VALUE" -le "$OFFSET" ] || return 1
		done
		return 0
	fi
	MORE="another history"
	case $NL$REPLY in
	*"${NL}db"*) return 1 ;;
	esac
	[ "$(field "$REPLY" loading)" = 0 ]
}

# asked_failover: has a sentinel promote a replica, once a start. It needs no
# agreement of the others, and none of their waiting: a container that comes
# back in seconds without its data would else be taken for the primary still.
asked_failover() {
	[ -z "$ASKED" ] || return 0
	# They may have replaced it by themselves since they were asked who it is, and
	# this would replace the next one.
	sentinel_names "$VIEW" || return 0
	ASKED=yes
	say "asking the sentinel at $SENTINEL_HOST to promote a replica: $(ask 2 "$SENTINEL_HOST" "$SENTINEL_PORT" SENTINEL FAILOVER "$VR_MASTER")"
}

# decide sets ROLE: "self", "fenced", "HOST PORT" of a primary, or "later".
decide() {
	local host port
	VIEW=none FLAGS=''
	[ -z "${VALKEY_SENTINELS:-}" ] || sentinel_view "$VR_RUN/sentinels.$$" 2
	case $VIEW in
	address*)
		VIEW=${VIEW#address }
		host=${VIEW%% *} port=${VIEW##* }
		if ! is_me "$host" "$port"; then
			decide_other "$host" "$port"
			return 0
		fi
		peers_view
		if [ "$OTHERS" = 1 ]; then
			ROLE="$(announced "$HOST_PRIMARY" "$PORT_PRIMARY") $PORT_PRIMARY"
			return 0
		fi
		case $FLAGS in
		*down* | *failover*) ROLE=later ;;
		*) decide_self ;;
		esac
		[ "$ROLE" != fenced ] || ROLE=later
		[ "$ROLE" != later ] || asked_failover
		;;
	divided) ROLE=later ;;
	*)
		peers_view
		ROLE=fenced
		if [ "$OTHERS" = 1 ]; then
			ROLE="$(announced "$HOST_PRIMARY" "$PORT_PRIMARY") $PORT_PRIMARY"
		elif [ "$OTHERS" -gt 1 ]; then
			say "$OTHERS other pods say that they are the primary"
		elif [ "$VIEW" = silent ]; then
			say "no sentinel answers"
		else
			decide_self
		fi
		;;
	esac
}

# decide_other HOST PORT: the sentinels name another server. One that is not
# there, or no primary, is about to be replaced: wait for its successor.
decide_other() {
	ROLE="$1 $2"
	[ "$(field "$(ask 1 "$1" "$2" INFO replication)" role)" = master ] && return
	# A pod that was replaced has another address; the sentinels still look for
	# the primary at the old one.
	if [ "$1" = "$FORMER_IP" ] && [ "$2" = "$VR_PORT" ]; then
		asked_failover
	fi
	LAST=$ROLE
	ROLE=later
}

decide_self() {
	ROLE=fenced
	if [ "$OTHERS" -gt 0 ]; then
		say "$OTHERS other pods say that they are the primary"
	elif [ -z "$HISTORY" ] || [ -n "$WHY" ]; then
		say "not starting as the primary: $WHY"
	elif [ -n "$AHEAD" ]; then
		say "not starting as the primary:$AHEAD"
	else
		ROLE=self
	fi
}

# role sets ROLE to "self", "fenced" or "HOST PORT".
role() {
	local deadline
	if [ "${VALKEY_REPLICAS:-0}" = 0 ]; then
		ROLE=self
		return 0
	fi
	own_history && WHY=''
	# The record and the clean stop say something about one start only.
	rm -f "$ROLE_FILE" 2>/dev/null
	ASKED='' LAST=fenced
	deadline=$(($(now) + ROLE_SECONDS * 100))
	while :; do
		decide
		[ "$ROLE" = later ] || break
		# A round may take four seconds when nobody answers.
		if [ "$(left "$deadline")" -le 4 ]; then
			ROLE=$LAST
			break
		fi
		nap 0.5
	done
	case $ROLE in
	self) say "starting as the primary: all of history $HISTORY is here and no other pod is ahead" ;;
	fenced) say "starting fenced: no primary is known; Sentinel or a Job promotes one" ;;
	*) say "starting as a replica of $ROLE" ;;
	esac
}
