# shellcheck shell=dash
# SPDX-FileCopyrightText: The valkey-render Authors
# SPDX-License-Identifier: Apache-2.0
#
# Which text of the live settings a server starts with. The ConfigMap is
# changed before any server is asked, and CONFIG SET and a start refuse
# different things, so the file may be one that no server starts with.
# Two nets: the server itself reads the composed configuration before the real
# start (parses), and a file that was tried twice without the server ever
# answering is not tried again (live.tried, live.accepted in the data volume).
# Nothing here is needed for a start: an unwritable or full data volume costs
# the memory of what was accepted, not the start.

LIVE=$VR_ROOT/live/${VALKEY_VERSION:-}.conf
LIVE_END="# valkey-render: end of ${VALKEY_VERSION:-}.conf"
LIVE_USED=$VR_RUN/live.conf
LIVE_SOURCE=$VR_RUN/live.source
LIVE_TRIED=$VR_STATE/live.tried
LIVE_ACCEPTED=$VR_STATE/live.accepted

# parses ARGUMENTS…: true when the server reads valkey.conf and ARGUMENTS to
# their end. The last directive does not exist, so the server always stops at
# parsing, before it opens a port, a file or the data set; what matters is
# whether it stopped there or earlier. COMPLAINT is what it said.
parses() {
	COMPLAINT=$(timeout 5 valkey-server "$VR_ROOT/config/valkey.conf" "$@" --valkey-render-end-of-check yes 2>&1 </dev/null)
	case $COMPLAINT in
	*">>> 'valkey-render-end-of-check"*) return 0 ;;
	esac
	return 1
}

live_use() {
	replace "$1" "$LIVE_USED" || die "$LIVE_USED: cannot be written"
	printf '%s\n' "$2" >"$LIVE_SOURCE" || die "$LIVE_SOURCE: cannot be written"
}

# live_attempts KEY: how often this text was started without an answer, 0 for
# another text. The key covers valkey.conf, so that a template that kept the
# server from starting is not held against the live file.
live_attempts() {
	local key count
	read -r key count _ 2>/dev/null <"$LIVE_TRIED" || return 0
	[ "$key" = "$1" ] && [ "$count" -ge 1 ] 2>/dev/null && printf '%s\n' "$count"
	return 0
}

# live_note KEY: remembers one more attempt. The text goes along for probe.sh,
# which may run after the ConfigMap has moved on.
live_note() {
	local count
	count=$(live_attempts "$1")
	{ printf '%s %s\n' "$1" $((${count:-0} + 1)) && cat "$LIVE"; } >"$LIVE_TRIED.new" 2>/dev/null &&
		mv -f "$LIVE_TRIED.new" "$LIVE_TRIED" 2>/dev/null && return 0
	rm -f "$LIVE_TRIED.new" 2>/dev/null
	say "$LIVE_TRIED: cannot be written; a live file that keeps the server from starting will not be noticed"
}

# live_choose ARGUMENTS…: fills run/live.conf. ARGUMENTS are the server's.
live_choose() {
	local key have=no attempts
	# The copy carries the end marker of the version it was accepted by: one of
	# another version, or one cut short, is no copy.
	ends_with "$LIVE_ACCEPTED" "$LIVE_END" && have=yes
	if ! ends_with "$LIVE" "$LIVE_END"; then
		[ "$have" = yes ] || die "$LIVE: does not end with '$LIVE_END' and no accepted copy exists; refusing to start"
		say "$LIVE: does not end with '$LIVE_END'; starting with the last accepted copy"
		live_use "$LIVE_ACCEPTED" accepted
		return 0
	fi
	live_use "$LIVE" live
	if [ "$have" = yes ] && [ "$(digest "$LIVE")" = "$(digest "$LIVE_ACCEPTED")" ]; then
		rm -f "$LIVE_TRIED" 2>/dev/null
		return 0
	fi
	key=$(digest "$VR_ROOT/config/valkey.conf" "$LIVE")
	attempts=$(live_attempts "$key")
	if parses "$@"; then
		if [ "$have" = yes ] && [ "${attempts:-0}" -ge 2 ]; then
			say "$LIVE: the server did not answer after $attempts starts with it; starting with the last accepted copy"
			live_use "$LIVE_ACCEPTED" accepted
			return 0
		fi
		live_note "$key"
		return 0
	fi
	say "$LIVE: refused by the server: $COMPLAINT"
	if [ "$have" = yes ]; then
		live_use "$LIVE_ACCEPTED" accepted
		if parses "$@"; then
			say "starting with the last accepted copy of $LIVE"
			return 0
		fi
		# Not the live file's fault; the start will say what is.
		live_use "$LIVE" live
	fi
}

# live_accepted: called when the server answered, whatever it answered: it has
# read its configuration.
live_accepted() {
	local source='' rest
	[ -f "$LIVE_TRIED" ] || return 0
	read -r source 2>/dev/null <"$LIVE_SOURCE"
	[ "$source" = live ] || return 0
	rest=$LIVE_TRIED.text
	# ConfigMap and server may differ by now; what was started is the note's text.
	if tail -n +2 "$LIVE_TRIED" >"$rest" 2>/dev/null && ends_with "$rest" "$LIVE_END"; then
		mv -f "$rest" "$LIVE_ACCEPTED" 2>/dev/null && rm -f "$LIVE_TRIED" 2>/dev/null
		return 0
	fi
	rm -f "$rest" 2>/dev/null
	return 0
}
