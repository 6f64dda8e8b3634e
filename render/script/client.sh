# shellcheck shell=dash
# SPDX-FileCopyrightText: The valkey-render Authors
# SPDX-License-Identifier: Apache-2.0
#
# How a server of this cluster is asked. Sourced by lib.sh.

# content FILE: CONTENT is all of it. Nothing is forked for a line without an end,
# as passwords mostly are.
content() {
	CONTENT=''
	if IFS= read -r CONTENT <"$1"; then
		# The trailing x keeps newlines that $( ) would drop.
		CONTENT=$(cat "$1" && printf x)
		CONTENT=${CONTENT%x}
	fi
}

# connect SECONDS KEY HOST PORT COMMAND…: becomes valkey-cli as _operator with the
# password of KEY (current, next), so it is called in a subshell. Without COMMAND
# those on the standard input are sent. The only place that knows how to reach a
# server of this cluster. The password is in the child's environment only.
connect() {
	local seconds=$1 secret=$VR_ROOT/system/_operator.$2 host=$3 port=$4 tls=$VR_ROOT/tls
	shift 4
	if [ "${VALKEY_TLS:-no}" = yes ]; then
		# The pair goes along whether or not the server asks for it (mutual TLS).
		set -- --tls --cacert "$tls/ca.crt" --cert "$tls/tls.crt" --key "$tls/tls.key" "$@"
	fi
	if [ -s "$secret" ]; then
		content "$secret"
		export VALKEYCLI_AUTH="$CONTENT" REDISCLI_AUTH="$CONTENT"
		set -- --user _operator --no-auth-warning "$@"
	fi
	exec timeout "$seconds" valkey-cli -h "$host" -p "$port" "$@"
}

# client SECONDS KEY HOST PORT COMMAND…: one command, and the reply in lines without
# carriage returns.
client() { (connect "$@" </dev/null) 2>&1 | tr -d '\r'; }

# ask SECONDS HOST PORT COMMAND…: prints the reply or the client's own words.
# The exit code of valkey-cli is 0 for LOADING and most errors, so it is not
# looked at. Where the current password is refused, the next one of a rotation
# is tried.
ask() {
	local seconds=$1 reply
	shift
	reply=$(client "$seconds" current "$@")
	case $reply in
	*WRONGPASS*)
		if [ -s "$VR_ROOT/system/_operator.next" ]; then
			reply=$(client "$seconds" next "$@")
		fi
		;;
	esac
	printf '%s\n' "$reply"
}
