# shellcheck shell=dash
# SPDX-FileCopyrightText: The valkey-render Authors
# SPDX-License-Identifier: Apache-2.0
#
# The command of the server container: start.sh ARGUMENTS… for data pods,
# start.sh sentinel ARGUMENTS… for Sentinel pods. Runs at every start of the
# container, which an init container would not, and becomes valkey-server.
# ARGUMENTS are given to the server after its file: what makes it this server
# must not be lost with a file that came up empty.
set -u

SCRIPTS=${0%/*}
# shellcheck source=lib.sh
. "$SCRIPTS/lib.sh"
# shellcheck source=lock.sh
. "$SCRIPTS/lock.sh"
# shellcheck source=live.sh
. "$SCRIPTS/live.sh"
# shellcheck source=rdb.sh
. "$SCRIPTS/rdb.sh"
# shellcheck source=persist.sh
. "$SCRIPTS/persist.sh"
# shellcheck source=identity.sh
. "$SCRIPTS/identity.sh"
# shellcheck source=role.sh
. "$SCRIPTS/role.sh"
# shellcheck source=sentinel.sh
. "$SCRIPTS/sentinel.sh"

members

# check FILE MARKER ARGUMENTS…: refuses to start with less than everything.
check() {
	local file=$1 marker=$2 part
	shift 2
	[ -n "${POD_IP:-}" ] || die "POD_IP is empty; refusing to start"
	[ -n "${POD_NAME:-}" ] || die "POD_NAME is empty; refusing to start"
	# A pod that believes to be alone would take a role that another one has.
	[ -n "${VALKEY_REPLICAS:-}" ] || [ "$VALKEY_TOPOLOGY" = Standalone ] ||
		die "$VR_ROOT/live/members: does not end with its marker, so the other pods are unknown; refusing to start"
	# The kubelet leaves a reference to an unknown variable as it is.
	for part in "$@"; do
		# shellcheck disable=SC2016 # it is the text itself that is looked for
		case $part in
		*'$('*) die "argument '$part' holds a variable that was not expanded; refusing to start" ;;
		esac
	done
	ends_with "$file" "$marker" || die "$file: does not end with '$marker'; refusing to start"
	# A sentinel knows other commands than a data server, so it has a file of its own.
	[ -s "$VR_ACL" ] || die "$VR_ACL: missing or empty; refusing to start an open server"
	# Users that an ACL file does not name keep their defaults, and the default
	# user's is all commands without a password.
	has_line_starting "$VR_ACL" 'user default ' ||
		die "$VR_ACL: no line 'user default …'; refusing to start an open server"
	if [ "${VALKEY_TLS:-no}" = yes ]; then
		for part in ca.crt tls.crt tls.key; do
			[ -s "$VR_ROOT/tls/$part" ] || die "$VR_ROOT/tls/$part: missing or empty; refusing to start"
		done
	fi
}

# secret NAME: the password file of a system user, which must be there.
secret() {
	[ -s "$VR_ROOT/system/$1.current" ] || die "$VR_ROOT/system/$1.current: missing or empty; refusing to start"
	printf '%s\n' "$VR_ROOT/system/$1.current"
}

# auth_conf: the replication user's credentials, in a file of this user's only.
# During a rotation the current password is the one that every server knows.
auth_conf() {
	local file target=$VR_RUN/auth.conf
	file=$(secret _replication) || exit 1
	rm -f "$target" "$target.new"
	(
		umask 077
		{
			printf 'primaryuser _replication\nprimaryauth '
			quoted "$file"
			printf '\n'
		} >"$target.new"
	) || die "$target.new: cannot be written"
	mv -f "$target.new" "$target" || die "$target: cannot be written"
}

start_data() {
	local conf=$VR_ROOT/config/valkey.conf
	check "$conf" '# valkey-render: end of valkey.conf' "$@"
	mkdir -p "$VR_STATE" 2>/dev/null || say "$VR_STATE: cannot be made"
	lock_data
	# From here on no replica counts as synced.
	rm -f "$VR_RUN/synced"
	# A rule that cannot be applied must not end in a server without it.
	[ "$VALKEY_TOPOLOGY" = Standalone ] || auth_conf || die "auth_conf failed; refusing to start"
	live_choose "$@" || die "live_choose failed; refusing to start"
	# Before the roles are asked for: they may change while data is converted.
	persist "$@" || die "persist failed; refusing to start"
	case $VALKEY_TOPOLOGY in
	Cluster) identity "$@" || die "identity failed; refusing to start" ;;
	Replication | Sentinel)
		role || die "role failed; refusing to start"
		[ "$ROLE" != fenced ] || ROLE="$(fence_address) 1"
		[ "$ROLE" = self ] || set -- "$@" --replicaof "${ROLE% *}" "${ROLE##* }"
		running
		set -- "$@" --pidfile "$PIDFILE"
		;;
	Standalone) ;;
	*) die "VALKEY_TOPOLOGY is '$VALKEY_TOPOLOGY'; refusing to start" ;;
	esac
	exec valkey-server "$conf" "$@"
}

# stop_on_term: as process 1 a shell ignores SIGTERM unless it traps it, and a pod
# that is deleted while it starts would take its whole grace period. What replaces
# this process has handlers of its own.
stop_on_term() { trap 'exit 143' TERM INT; }

stop_on_term
if [ "${1:-}" = sentinel ]; then
	shift
	start_sentinel "$@"
else
	start_data "$@"
fi
