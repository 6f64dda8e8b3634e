# shellcheck shell=dash
# SPDX-FileCopyrightText: The valkey-render Authors
# SPDX-License-Identifier: Apache-2.0
#
# A change of spec.storage.mode: the data is brought into the form that the server
# will read. A server told to use an AOF reads no RDB, and starts empty when it has
# no AOF; told to use none, it reads whatever RDB is there, however old. Which of
# the two holds what the last server had:
#
#   no AOF                                 the RDB
#   the last server was seen without AOF,
#   and the RDB was begun after the last
#   byte of the AOF was written            the RDB
#   anything else                          the AOF
#
# and what is done when the server is going to read the other:
#
#   RDB, and an AOF is wanted   the RDB becomes the base file of an AOF: a second
#                               name of the same file, so no space and no time
#   AOF, and none is wanted     a server without TCP ports loads it and saves an
#                               RDB; the AOF is then set aside, so that it is never
#                               taken for newer than later RDBs. probe.sh removes it
#                               once a server has loaded the RDB
#
# The old form is complete until the new one is, so a kill at any time costs no
# more than the work: the next start begins again. A start that cannot convert
# ends with the reason; it never ends in a server with less data.

PERSIST_FILE=$VR_STATE/persist
RDB=$VR_DATA/dump.rdb
AOF=$VR_DATA/appendonlydir
AOF_CONVERTED=$AOF.converted
AOF_MANIFEST=appendonly.aof.manifest
# The work directory holds all that is half done, the server's temporary file too.
CONVERT=$VR_STATE/convert
# The path of a socket has at most 107 bytes, and not every volume can hold one.
CONVERT_SOCKET=$VR_RUN/convert

# persist_last sets LAST: what the last server wrote, as far as is known: aof,
# rdb (no AOF) or none.
persist_last() {
	LAST=''
	read -r LAST 2>/dev/null <"$PERSIST_FILE" || [ -n "$LAST" ]
}

# persist_mark WORD: for the next start. Where it cannot be written nothing is
# known, which is a case of its own.
persist_mark() {
	persist_last
	[ "$LAST" = "$1" ] && return 0
	printf '%s\n' "$1" >"$PERSIST_FILE.new" 2>/dev/null && mv -f "$PERSIST_FILE.new" "$PERSIST_FILE" 2>/dev/null && return 0
	rm -f "$PERSIST_FILE.new" "$PERSIST_FILE" 2>/dev/null
}

# persist_note INFO: called by probe.sh when the server is ready. Somebody may have
# changed appendonly by CONFIG SET.
persist_note() {
	if [ "${VALKEY_PERSISTED:-no}" != yes ]; then
		persist_unkept
	else
		value "$1" aof_enabled
		case $VALUE in
		1) persist_mark aof ;;
		*) persist_mark rdb ;;
		esac
	fi
	# The server has loaded what was made of it.
	[ ! -e "$AOF_CONVERTED" ] || rm -rf "$AOF_CONVERTED"
}

# persist_unkept: nothing is written from now on, so the next start must not
# find today's files.
persist_unkept() {
	persist_last
	case $LAST in
	aof | rdb)
		set_aside "$RDB" unkept && set_aside "$AOF" unkept || return 0
		;;
	esac
	persist_mark none
}

# set_aside PATH SUFFIX: for people. A former one is replaced.
set_aside() {
	[ -e "$1" ] || return 0
	rm -rf "$1.$2" 2>/dev/null
	mv -f "$1" "$1.$2" 2>/dev/null
}

# durable PATH…: as good as it gets: busybox may lack the argument, and a volume
# the call.
durable() { sync "$@" 2>/dev/null || :; }

# persist ARGUMENTS…: ARGUMENTS are the server's.
persist() {
	local want=rdb
	persist_last
	if [ "${VALKEY_PERSISTED:-no}" != yes ]; then
		persist_once
		return 0
	fi
	[ "$(directive appendonly "$VR_ROOT/config/valkey.conf" "$LIVE_USED")" != yes ] || want=aof
	[ "$LAST" != none ] || persist_again
	orphan
	rm -rf "$CONVERT" "$AOF.new" 2>/dev/null
	case $want-$(authority) in
	aof-rdb) aof_from_rdb ;;
	rdb-aof) rdb_from_aof "$@" ;;
	rdb-rdb)
		[ ! -e "$AOF/$AOF_MANIFEST" ] || set_aside "$AOF" dropped || die "$AOF: cannot be set aside"
		;;
	esac
	persist_mark "$want"
}

# persist_once: the first start that keeps nothing goes on with what there is, if
# that is an RDB. An AOF that went on after it makes it an old one.
persist_once() {
	local file
	[ "$LAST" = aof ] && [ -e "$RDB" ] || return 0
	for file in "$AOF"/*; do
		[ ! "$file" -nt "$RDB" ] || set_aside "$RDB" unkept
	done
	return 0
}

# persist_again: the last server kept nothing, so a file here is older than what
# it had. Another pod of the shard may have that still, and would lose it to a
# primary that comes back with the file; without other pods the file is all.
persist_again() {
	[ "${VALKEY_REPLICAS:-0}" != 0 ] || return 0
	[ -e "$RDB" ] || [ -e "$AOF" ] || return 0
	say "$VR_DATA: its files are older than the data that the last server kept in memory only; setting them aside as $RDB.unkept and $AOF.unkept"
	if ! set_aside "$RDB" unkept || ! set_aside "$AOF" unkept; then
		die "$VR_DATA: cannot be changed; refusing to start with old data"
	fi
}

# authority: prints what the last server's data is in: aof, rdb or nothing.
authority() {
	if [ ! -e "$AOF/$AOF_MANIFEST" ]; then
		# The server itself takes over an AOF of one file, of before 7.0.
		[ -s "$RDB" ] && [ ! -s "$VR_DATA/appendonly.aof" ] && printf 'rdb\n'
		return 0
	fi
	if [ "$LAST" = rdb ] && rdb_newer; then
		printf 'rdb\n'
	else
		printf 'aof\n'
	fi
}

# rdb_newer: the RDB was begun after the AOF was last written. A time in the file
# itself, as that of the file system is when it was finished; both are asked, as
# a replica's file has the time of its primary.
rdb_newer() {
	local begun file written
	[ -s "$RDB" ] || return 1
	begun=$(rdb_begun "$RDB") || return 1
	for file in "$AOF"/*; do
		[ -e "$file" ] || continue
		written=$(stat -c %Y "$file") || return 1
		[ "$begun" -gt "$written" ] || return 1
		[ "$RDB" -nt "$file" ] || return 1
	done
	return 0
}

# aof_from_rdb: a base file and a manifest are all that the server needs. They are
# complete in a directory of their own before it gets the name.
aof_from_rdb() {
	local new=$AOF.new base=appendonly.aof.1.base.rdb line
	line="file $base seq 1 type b"
	mkdir "$new" || die "$new: cannot be made; refusing to start an empty server beside $RDB"
	# Where a file can have one name only it is copied, which takes space.
	ln "$RDB" "$new/$base" 2>/dev/null || cat "$RDB" >"$new/$base" || {
		rm -rf "$new"
		die "$new/$base: cannot be written (disk full?); refusing to start an empty server beside $RDB"
	}
	printf '%s\n' "$line" >"$new/$AOF_MANIFEST"
	if [ "$(cat "$new/$AOF_MANIFEST" 2>/dev/null)" != "$line" ]; then
		rm -rf "$new"
		die "$new/$AOF_MANIFEST: cannot be written (disk full?); refusing to start an empty server beside $RDB"
	fi
	durable "$new/$base" "$new/$AOF_MANIFEST" "$new"
	# Where the last server had an AOF, this is no proof of having all.
	role_forget_aof
	# An AOF that is older than the RDB, or the remains of one.
	set_aside "$AOF" dropped || die "$AOF: cannot be set aside"
	mv "$new" "$AOF" || die "$AOF: cannot be made"
	durable "$VR_DATA"
	say "storage mode: $AOF begins with the data of $RDB"
}

# rdb_from_aof ARGUMENTS…
rdb_from_aof() {
	local reply
	say "storage mode: loading $AOF, to save it as $RDB"
	if ! mkdir -p "$CONVERT" || ! ln -s "$AOF" "$CONVERT/appendonlydir"; then
		die "$CONVERT: cannot be made (disk full?); refusing to start without the data of $AOF"
	fi
	trap 'convert_ends; exit 143' TERM INT
	convert_server "$@"
	while :; do
		reply=$(convert_ask 5 PING)
		[ "$reply" != PONG ] || break
		kill -0 "$CONVERT_PID" 2>/dev/null || convert_failed "the server did not load it"
		sleep 0.2
	done
	# In the background, so that a signal is heard meanwhile.
	(
		# A function's redirection would keep the descriptor under another number.
		exec 8>&-
		convert_ask 86400 SAVE >"$VR_RUN/convert.reply"
	) &
	wait $!
	reply=$(cat "$VR_RUN/convert.reply")
	[ "$reply" = OK ] || convert_failed "the server could not save it (disk full?): $reply"
	# The RDB is whole and synced. The AOF takes no more writes.
	kill -9 "$CONVERT_PID"
	wait "$CONVERT_PID" 2>/dev/null
	trap - TERM INT
	mv -f "$CONVERT/dump.rdb" "$RDB" || convert_failed "$RDB cannot be replaced"
	durable "$VR_DATA"
	set_aside_converted
	rm -rf "$CONVERT" "$CONVERT_SOCKET" "$VR_RUN/convert.reply" 2>/dev/null
	say "storage mode: $RDB holds the data of $AOF now"
}

set_aside_converted() {
	set_aside "$AOF" converted || die "$AOF: cannot be renamed to $AOF_CONVERTED; refusing to start with it in the way"
	durable "$VR_DATA"
}

# convert_server ARGUMENTS…: the server as it would run, with its modules, but
# alone: no port, no cluster, no users, and nothing that removes a key or writes
# another file. CONVERT_PID is its process.
convert_server() {
	local databases
	if [ "$VALKEY_TOPOLOGY" = Cluster ]; then
		databases=$(directive cluster-databases "$VR_ROOT/config/valkey.conf" "$LIVE_USED")
		set -- "$@" --cluster-enabled no --databases "${databases:-16}"
	fi
	valkey-server "$VR_ROOT/config/valkey.conf" "$@" --dir "$CONVERT" --dbfilename dump.rdb \
		--appendonly yes --appenddirname appendonlydir --appendfilename appendonly.aof --save '' \
		--port 0 --tls-port 0 --unixsocket "$CONVERT_SOCKET" --unixsocketperm 700 --aclfile '' \
		--maxmemory 0 --auto-aof-rewrite-percentage 0 >&2 </dev/null 8>&- &
	CONVERT_PID=$!
}

# convert_ask SECONDS COMMAND…
convert_ask() {
	local seconds=$1
	shift
	timeout "$seconds" valkey-cli -s "$CONVERT_SOCKET" "$@" </dev/null 2>&1
}

convert_ends() {
	kill -9 "$CONVERT_PID" 2>/dev/null
	wait "$CONVERT_PID" 2>/dev/null
	rm -rf "$CONVERT" "$CONVERT_SOCKET" 2>/dev/null
}

convert_failed() {
	convert_ends
	die "$AOF: not converted: $1; refusing to start without its data. It is as it was: free space, or go back to the former spec.storage.mode"
}

# orphan: ends the server of a start that was killed alone, as a pod whose
# containers share their processes may see it. Two must not write one AOF.
orphan() {
	local reply
	[ -e "$CONVERT_SOCKET" ] || return 0
	convert_ask 10 SHUTDOWN NOSAVE NOW FORCE >/dev/null
	reply=$(convert_ask 5 PING)
	case $reply in
	*refused* | *'No such file'*) ;;
	*) die "$CONVERT_SOCKET: the server of an earlier start is still at work: $reply" ;;
	esac
	rm -f "$CONVERT_SOCKET"
}
