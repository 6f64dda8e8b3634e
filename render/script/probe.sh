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

# reply sets ANSWER to the class of the server's reply to PING, or to an empty
# string when it gave none, and WORDS to all it said.
reply() {
	WORDS=$(ask 2 "$POD_IP" "$1" PING)
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
	local info
	[ "$ANSWER" = PONG ] || fail readiness "$WORDS"
	[ "$1" = data ] || return 0
	info=$(ask 2 "$POD_IP" "$VR_PORT" INFO replication persistence)
	case $(field "$info" role) in
	master) ;;
	slave)
		if [ ! -e "$SYNCED" ]; then
			[ "$(field "$info" master_link_status)" = up ] ||
				fail readiness "replica of $(field "$info" master_host):$(field "$info" master_port), not in sync since the container started"
			: >"$SYNCED"
		fi
		;;
	*) fail readiness "no role in the reply to INFO: $info" ;;
	esac
	[ -d "$VR_STATE" ] || return 0
	persist_note "$info"
	case $VALKEY_TOPOLOGY in
	Cluster) nodes_copy ;;
	Replication | Sentinel) role_note "$info" ;;
	esac
}

main() {
	local kind=data port=$VR_PORT
	if [ -e "$VR_ROOT/config/sentinel.conf" ]; then
		kind=sentinel port=$VR_SENTINEL_PORT
	fi
	reply "$port"
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
