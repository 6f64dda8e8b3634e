# shellcheck shell=dash
# SPDX-FileCopyrightText: The valkey-render Authors
# SPDX-License-Identifier: Apache-2.0
#
# The three ways of prestop.sh to hand the primary's role over. Each ends the
# script, with the reason.

# How far behind counts as equal: a replica that follows a busy primary is
# always some writes behind, and all three ways stop the writes and wait.
LAG_CLASS=1048576

# candidates sets CANDIDATES to "HOST|PORT|ANNOUNCED …", the replicas of this
# primary that are linked and in its history, best first: least lag, in classes
# of LAG_CLASS, then lowest ordinal. OTHER_PODS has every pod that answered as a
# replica, in the same form. Busy, loading and absent pods answer no INFO or no
# link: they are in no list.
candidates() {
	local dir=$VR_RUN/prestop.$$ file mine offset lag replid n=0 entry ranked='' best
	survey "$dir" 2 "$VR_PORT" "${VALKEY_PEERS:-}" INFO replication
	INFO=$(me INFO replication)
	mine=$(field "$INFO" master_repl_offset)
	replid=$(field "$INFO" master_replid) || done_because "the server does not tell its history"
	CANDIDATES='' OTHER_PODS=''
	for _ in ${VALKEY_PEERS:-}; do
		file=$dir/$n
		n=$((n + 1))
		[ -f "$file" ] || continue
		answer "$file"
		[ "$(field "$REPLY" role)" = slave ] || continue
		entry="$HOST|$PORT|$(announced "$HOST" "$PORT")"
		OTHER_PODS="$OTHER_PODS $entry"
		[ "$(field "$REPLY" master_link_status)" = up ] || continue
		[ "$(field "$REPLY" master_replid)" = "$replid" ] || continue
		offset=$(field "$REPLY" slave_repl_offset) || continue
		lag=$(((mine - offset) / LAG_CLASS))
		[ "$lag" -ge 0 ] || lag=0
		ranked="$ranked $lag:$entry"
	done
	rm -rf "$dir"
	while [ -n "$ranked" ]; do
		best=''
		for entry in $ranked; do
			if [ -z "$best" ] || [ "${entry%%:*}" -lt "${best%%:*}" ]; then
				best=$entry
			fi
		done
		CANDIDATES="$CANDIDATES ${best#*:}"
		file=''
		for entry in $ranked; do
			[ "$entry" = "$best" ] || file="$file $entry"
		done
		ranked=$file
	done
	[ -n "$CANDIDATES" ] || done_because "no replica is linked, in sync and answering; not handing over"
}

# take ENTRY: sets HOST, PORT and NAME (the announced address) from it.
take() {
	HOST=${1%%|*}
	NAME=${1##*|}
	PORT=${1#*|}
	PORT=${PORT%%|*}
}

# replica_now: this server's role has moved.
replica_now() {
	INFO=$(me INFO replication)
	[ "$(field "$INFO" role)" = slave ]
}

primary_there() { [ "$(field "$(ask 1 "$HOST" "$PORT" INFO replication)" role)" = master ]; }

# The replica asks for the role: it makes this primary stop its writes, catches
# up and is elected. The server gives up by itself after five seconds.
hand_over_cluster() {
	local line entry tries=0 until reply
	line=$(me CLUSTER NODES)
	case $line in
	*myself,master*) ;;
	*) done_because "this node is no primary" ;;
	esac
	line=${line#*myself,master}
	# shellcheck disable=SC2086 # the words are wanted: primary ping pong epoch link [slots…]
	set -f && set -- ${line%%"$NL"*} && set +f
	# What is left of the flags field may be a word of its own: it starts with a comma.
	case ${1:-} in
	,*) shift ;;
	esac
	[ $# -gt 5 ] || done_because "this primary has no slots"
	candidates
	for entry in $CANDIDATES; do
		take "$entry"
		[ "$(left "$DEADLINE")" -ge 2 ] || done_because "no time left; this node is still the primary"
		replica_now && done_because "the role has already moved"
		reply=$(ask 2 "$HOST" "$PORT" CLUSTER FAILOVER)
		if [ "$reply" != OK ]; then
			say "preStop: $HOST:$PORT does not take over: ${reply:-no answer}"
			continue
		fi
		until=$(($(now) + 600))
		[ "$until" -le "$DEADLINE" ] || until=$DEADLINE
		while [ "$(now)" -lt "$until" ]; do
			if replica_now; then
				done_because "$HOST:$PORT took over"
			fi
			sleep 0.1
		done
		say "preStop: $HOST:$PORT did not take over in time"
		tries=$((tries + 1))
		[ "$tries" -lt 2 ] || break
	done
	done_because "this node is still the primary"
}

# This primary stops its writes, waits for the replica's offset and hands over:
# FAILOVER, which resumes the writes by itself when its time is over.
hand_over_replication() {
	local entry seconds reply
	candidates
	for entry in $CANDIDATES; do
		take "$entry"
		# The address must be the one that this server knows the replica by.
		case $INFO in
		*":ip=$NAME,port=$PORT,state=online,"*) break ;;
		esac
		say "preStop: $HOST:$PORT is not online here as $NAME"
		NAME=''
	done
	[ -n "$NAME" ] || done_because "no replica is online; not handing over"
	seconds=$(($(left "$DEADLINE") - 3))
	[ "$seconds" -ge 1 ] || done_because "no time left to hand over"
	[ "$seconds" -le 10 ] || seconds=10
	replica_now && done_because "the role has already moved"
	reply=$(me FAILOVER TO "$NAME" "$PORT" TIMEOUT $((seconds * 1000)))
	[ "$reply" = OK ] || done_because "FAILOVER to $NAME:$PORT was refused: ${reply:-no answer}"
	while [ "$(left "$DEADLINE")" -gt 1 ]; do
		if replica_now; then
			# The state is kept until the replica has said that it took over.
			if [ "$(field "$INFO" master_failover_state)" = no-failover ] && primary_there; then
				repoint
				done_because "$NAME:$PORT took over"
			fi
		elif [ "$(field "$INFO" master_failover_state)" = no-failover ]; then
			done_because "$NAME:$PORT did not catch up in $seconds s; this server is still the primary and writes go on"
		fi
		sleep 0.1
	done
	primary_there && done_because "$NAME:$PORT took over"
	say "preStop: FAILOVER ABORT: $(me FAILOVER ABORT)"
	done_because "$NAME:$PORT did not take over in time; writes go on"
}

# repoint: the other replicas still follow this server, which is about to stop. One
# that does not any more was told otherwise meanwhile, and a primary would lose its
# data. Best effort: a Job or their next start does the same.
repoint() {
	local entry reply host=$HOST port=$PORT name=$NAME
	for entry in $OTHER_PODS; do
		take "$entry"
		[ "$HOST:$PORT" = "$host:$port" ] && continue
		reply=$(ask 1 "$HOST" "$PORT" INFO replication)
		[ "$(field "$reply" role)" = slave ] || continue
		is_me "$(field "$reply" master_host)" "$(field "$reply" master_port)" || continue
		say "preStop: $HOST:$PORT follows $name:$port: $(ask 1 "$HOST" "$PORT" REPLICAOF "$name" "$port")"
	done
	HOST=$host PORT=$port NAME=$name
}

# A sentinel promotes a replica, but makes the old primary a replica only ten
# seconds later, and every write it takes until then is lost. So the writes are
# stopped here first. Once a sentinel may have begun they are started again only
# when this server is a replica, which refuses them: else the pause goes on until
# this pod is gone.
hand_over_sentinel() {
	local reply seconds
	sentinel_view "$VR_RUN/sentinels.$$" 2
	case $VIEW in
	address*) VIEW=${VIEW#address } ;;
	*) done_because "the sentinels name no primary ($VIEW); not handing over" ;;
	esac
	is_me "${VIEW%% *}" "${VIEW##* }" || done_because "the sentinels already name ${VIEW%% *}"
	case $FLAGS in
	*failover_in_progress*) done_because "a failover is already running" ;;
	esac
	candidates
	seconds=$(left "$DEADLINE")
	[ "$seconds" -ge 4 ] || done_because "no time left to hand over"
	replica_now && done_because "the role has already moved"
	# To the end of the grace period, which is five seconds after this script's.
	reply=$(me CLIENT PAUSE $(((seconds + 5) * 1000)) WRITE)
	[ "$reply" = OK ] || done_because "the writes cannot be stopped: ${reply:-no answer}"
	caught_up || resume "not every replica caught up"
	# It may have a primary since, which this would replace.
	sentinel_names "$VIEW" || resume "the sentinel at $SENTINEL_HOST does not name this server any more"
	reply=$(ask 2 "$SENTINEL_HOST" "$SENTINEL_PORT" SENTINEL FAILOVER "$VR_MASTER")
	case $reply in
	# Without an answer it may have begun as well.
	OK | *INPROG* | '' | Error:*) ;;
	*) resume "the sentinel at $SENTINEL_HOST does not fail over: $reply" ;;
	esac
	while [ "$(left "$DEADLINE")" -gt 1 ]; do
		reply=$(ask 1 "$SENTINEL_HOST" "$SENTINEL_PORT" SENTINEL MASTER "$VR_MASTER")
		HOST=$(after "$reply" ip) && PORT=$(after "$reply" port)
		if [ -n "$HOST" ] && ! is_me "$HOST" "$PORT" && primary_there; then
			say "preStop: this server follows $HOST:$PORT: $(me REPLICAOF "$HOST" "$PORT")"
			# The sentinels end connections, this one too: what was said is no proof.
			replica_now && resume "$HOST:$PORT took over"
		fi
		sleep 0.1
	done
	done_because "no replica took over in time; writes stay stopped"
}

# caught_up: every candidate that a sentinel may choose has all writes of this
# server, which takes none. It chooses by what it heard up to ten seconds ago, so
# one that is behind is as good to it.
caught_up() {
	local reply mine replid entry behind open=$CANDIDATES
	reply=$(me INFO replication)
	mine=$(field "$reply" master_repl_offset)
	replid=$(field "$reply" master_replid)
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		behind=''
		for entry in $open; do
			# The sentinel needs what is left.
			[ "$(left "$DEADLINE")" -ge 3 ] || return 1
			take "$entry"
			reply=$(ask 1 "$HOST" "$PORT" INFO replication)
			[ "$(field "$reply" slave_priority)" != 0 ] || continue
			[ "$(field "$reply" master_replid)" = "$replid" ] &&
				[ "$(field "$reply" slave_repl_offset)" -ge "$mine" ] 2>/dev/null ||
				behind="$behind $entry"
		done
		[ -n "$behind" ] || return 0
		open=$behind
		sleep 0.2
	done
	return 1
}

resume() {
	me CLIENT UNPAUSE >/dev/null
	done_because "$*"
}
