# shellcheck shell=dash
# SPDX-FileCopyrightText: The valkey-render Authors
# SPDX-License-Identifier: Apache-2.0
#
# The start of a Sentinel container. A sentinel writes what it learns into its
# own configuration file, so each start composes one in the data volume: the
# rendered text, the identity, the credentials, and of the former file only the
# lines that a sentinel learns. Passwords are so never older than the Secret,
# and options never older than the rendered text.

SENTINEL_CONF=$VR_ROOT/config/sentinel.conf
SENTINEL_END='# valkey-render: end of sentinel.conf'
SENTINEL_STATE=$VR_DATA/sentinel.conf

# learnt FILE: prints the lines that a sentinel learnt about the primary. False
# when one is malformed or none names a primary: the file is then no source.
learnt() {
	local line monitor=no
	[ -s "$1" ] || return 1
	while read -r line || [ -n "$line" ]; do
		case $line in
		"sentinel monitor $VR_MASTER "* | "sentinel known-replica $VR_MASTER "* | \
			"sentinel known-sentinel $VR_MASTER "* | "sentinel config-epoch $VR_MASTER "* | \
			"sentinel leader-epoch $VR_MASTER "* | 'sentinel current-epoch '*) ;;
		*) continue ;;
		esac
		learnt_line "$line" || return 1
		case $line in
		'sentinel monitor '*) monitor=yes ;;
		esac
		printf '%s\n' "$line"
	done <"$1"
	[ "$monitor" = yes ]
}

learnt_line() {
	local words
	# shellcheck disable=SC2086 # the words are wanted
	set -f && set -- $1 && set +f
	words=$#
	case $2 in
	current-epoch) [ "$words" = 3 ] && whole "$3" ;;
	config-epoch | leader-epoch) [ "$words" = 4 ] && whole "$4" ;;
	known-replica) [ "$words" = 5 ] && whole "$5" ;;
	monitor) [ "$words" = 6 ] && whole "$5" && whole "$6" ;;
	# 9.1 writes the identity in quotes.
	known-sentinel) [ "$words" = 6 ] && whole "$5" && [ ${#6} -ge 40 ] ;;
	esac
}

# quorum: rendered as a comment "# valkey-render: quorum N" or in a monitor
# line; else the majority of the sentinels.
quorum() {
	local line found='' all=0 _name
	while read -r line || [ -n "$line" ]; do
		case $line in
		'# valkey-render: quorum '* | "sentinel monitor $VR_MASTER "*) found=${line##* } ;;
		esac
	done <"$SENTINEL_CONF"
	for _name in ${VALKEY_SENTINELS:-}; do
		all=$((all + 1))
	done
	whole "$found" || found=$((all / 2 + 1))
	printf '%s\n' "$found"
}

# primary_to_watch sets WATCH to "HOST PORT", or to nothing.
primary_to_watch() {
	local seen
	WATCH=''
	sentinel_view "$VR_RUN/sentinels.$$" 2
	case $VIEW in
	address*)
		WATCH=${VIEW#address }
		return
		;;
	esac
	seen=$VIEW
	# shellcheck disable=SC2034 # for peers_view: there is no own history
	HISTORY=''
	peers_view
	if [ "$OTHERS" = 1 ]; then
		WATCH="$(announced "$HOST_PRIMARY" "$PORT_PRIMARY") $PORT_PRIMARY"
	else
		say "starting without a primary to watch: the sentinels' view is '$seen' and $OTHERS data pods are primary"
	fi
}

# rendered MONITOR: the rendered text, without its monitor line, and, when
# nothing is watched, without the options of the primary, which a sentinel
# refuses for a name it does not know.
rendered() {
	local line
	while read -r line || [ -n "$line" ]; do
		case $line in
		"sentinel monitor $VR_MASTER "*) continue ;;
		"sentinel "*" $VR_MASTER "*) [ "$1" = yes ] || continue ;;
		esac
		printf '%s\n' "$line"
	done <"$SENTINEL_CONF"
}

# sentinel_compose STATE: prints the whole file.
sentinel_compose() {
	local monitor=no id file address=$POD_IP
	[ -z "$1" ] || monitor=yes
	rendered "$monitor"
	id=$(printf '%s/%s' "${POD_NAMESPACE:-default}" "$POD_NAME" | sha1sum)
	printf 'sentinel myid %s\n' "${id%% *}"
	if ! has_line_starting "$SENTINEL_CONF" 'sentinel announce-ip '; then
		# A name only where clients must check it: a sentinel waits for DNS inside its
		# event loop, and one that waits is no judge of time (tilt).
		if [ "${VALKEY_TLS:-no}" = yes ] && has_line_starting "$SENTINEL_CONF" 'sentinel announce-hostnames yes'; then
			address=${VALKEY_FQDN:-$POD_IP}
		fi
		printf 'sentinel announce-ip %s\n' "$address"
	fi
	# Without it a sentinel takes commands from everybody. Said twice it is an error.
	has_line_starting "$SENTINEL_CONF" 'aclfile ' || [ "$ACL_IN_ARGUMENTS" = yes ] || printf 'aclfile %s\n' "$VR_ACL"
	file=$(secret _sentinel) || return 1
	printf 'sentinel sentinel-user _sentinel\nsentinel sentinel-pass '
	quoted "$file"
	printf '\n'
	[ "$monitor" = yes ] || return 0
	printf '%s\n' "$1"
	printf 'sentinel auth-user %s _sentinel\nsentinel auth-pass %s ' "$VR_MASTER" "$VR_MASTER"
	quoted "$file"
	printf '\n'
}

start_sentinel() {
	local state
	VR_ACL=$VR_ROOT/acl/${VALKEY_VERSION:-}.sentinel.acl
	check "$SENTINEL_CONF" "$SENTINEL_END" "$@"
	secret _sentinel >/dev/null || exit 1
	mkdir -p "$VR_STATE" 2>/dev/null || say "$VR_STATE: cannot be made"
	lock_data
	ACL_IN_ARGUMENTS=no
	case " $* " in
	*' --aclfile '*) ACL_IN_ARGUMENTS=yes ;;
	esac
	state=$(learnt "$SENTINEL_STATE") || {
		[ ! -s "$SENTINEL_STATE" ] || say "$SENTINEL_STATE: names no primary to watch; asking the others"
		state=''
		primary_to_watch
		[ -z "$WATCH" ] || state="sentinel monitor $VR_MASTER $WATCH $(quorum)"
	}
	(umask 077 && sentinel_compose "$state" >"$SENTINEL_STATE.new") || die "$SENTINEL_STATE.new: cannot be written"
	mv -f "$SENTINEL_STATE.new" "$SENTINEL_STATE" || die "$SENTINEL_STATE: cannot be written"
	exec valkey-server "$SENTINEL_STATE" --sentinel "$@"
}
