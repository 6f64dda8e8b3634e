# shellcheck shell=dash
# SPDX-FileCopyrightText: The valkey-render Authors
# SPDX-License-Identifier: Apache-2.0
#
# The probes: probe.sh startup|liveness|readiness, for data and Sentinel pods.
#
#   startup    the server has loaded its data
#   liveness   the server answers, whatever it answers: a restart loads the same
#              data again, runs no script to its end and knows no other password
#   readiness  the server answers PONG; a replica has also been in sync once
#              since its container started. The state of the cluster is no
#              matter: this process serves or it does not.
#
# Ends within four seconds, before the kubelet's own limit, so that a server
# that hangs is a failed probe with a reason. valkey-cli exits with 0 when the
# server says LOADING: replies are compared.
set -u

SCRIPTS=${0%/*}
# shellcheck source=lib.sh
. "$SCRIPTS/lib.sh"
# shellcheck source=live.sh
. "$SCRIPTS/live.sh"
# shellcheck source=persist.sh
. "$SCRIPTS/persist.sh"
# shellcheck source=identity.sh
. "$SCRIPTS/identity.sh"
# shellcheck source=role.sh
. "$SCRIPTS/role.sh"

SYNCED=$VR_RUN/synced

fail() {
	say "$1: $2"
	exit 1
}

# asked KEY PORT COMMANDS: sends the lines of COMMANDS with the password of KEY.
# In a subshell: it becomes the client.
asked() {
	connect 2 "$1" "$POD_IP" "$2" 2>&1 <<-END
		$3
	END
}

# reply PORT COMMANDS: sets ANSWER to the class of the server's reply to PING, the
# first of COMMANDS, or to an empty string when it gave none, WORDS to what it said
# then, and INFO to what it said to INFO, which may be the second.
reply() {
	local said
	said=$(asked current "$@")
	case $said in
	*WRONGPASS*)
		# In a rotation the server may have been told of the next one alone.
		[ ! -s "$VR_ROOT/system/_operator.next" ] || said=$(asked next "$@")
		;;
	esac
	WORDS=${said%%"$NL# "*}
	INFO=${said#"$WORDS"}
	ANSWER=''
	case $NL$WORDS in
	*"${NL}PONG"*) ANSWER=PONG ;;
	*"${NL}LOADING "*) ANSWER=LOADING ;;
	*"${NL}BUSY "*) ANSWER=BUSY ;;
	*"${NL}MASTERDOWN "*) ANSWER=MASTERDOWN ;;
	# Each of these was said by a server that answers: the first two to AUTH or to
	# PING without it, the others to PING or before it.
	*WRONGPASS*) ANSWER=WRONGPASS ;;
	*"${NL}NOAUTH "*) ANSWER=NOAUTH ;;
	*"${NL}NOPERM "*) ANSWER=NOPERM ;;
	*"${NL}DENIED "*) ANSWER=DENIED ;;
	*"${NL}MISCONF "*) ANSWER=MISCONF ;;
	*"${NL}ERR "*) ANSWER=ERR ;;
	esac
	[ -n "$WORDS" ] || WORDS="no answer from $POD_IP:$1 in time"
}

startup() {
	case $ANSWER in
	'' | LOADING) fail startup "$WORDS" ;;
	esac
}

liveness() {
	case $ANSWER in
	'') fail liveness "$WORDS" ;;
	PONG) ;;
	*) say "liveness: alive, but: $WORDS" ;;
	esac
}

readiness() {
	[ "$ANSWER" = PONG ] || fail readiness "$WORDS"
	[ "$1" = data ] || return 0
	value "$INFO" role
	case $VALUE in
	master) ;;
	slave)
		if [ ! -e "$SYNCED" ]; then
			value "$INFO" master_link_status
			[ "$VALUE" = up ] ||
				fail readiness "replica of $(field "$INFO" master_host):$(field "$INFO" master_port), not in sync since the container started"
			: >"$SYNCED"
		fi
		;;
	*) fail readiness "no role in the reply to INFO: $WORDS$INFO" ;;
	esac
	[ -d "$VR_STATE" ] || return 0
	persist_note "$INFO"
	case $VALKEY_TOPOLOGY in
	Cluster) nodes_copy ;;
	Replication | Sentinel) role_note "$INFO" ;;
	esac
}

main() {
	local kind=data port=$VR_PORT commands=PING
	if [ -e "$VR_ROOT/config/sentinel.conf" ]; then
		kind=sentinel port=$VR_SENTINEL_PORT
	elif [ "${1:-}" = readiness ]; then
		commands="PING${NL}INFO replication persistence"
	fi
	reply "$port" "$commands"
	if [ "$kind" = data ] && [ -n "$ANSWER" ]; then
		live_accepted
	fi
	case ${1:-} in
	startup) startup ;;
	liveness) liveness ;;
	readiness) readiness "$kind" ;;
	*) die "usage: probe.sh startup|liveness|readiness" ;;
	esac
}

main "$@"
