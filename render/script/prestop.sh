# shellcheck shell=dash
# SPDX-FileCopyrightText: The valkey-render Authors
# SPDX-License-Identifier: Apache-2.0
#
# The preStop hook where the server does not hand over by itself on SIGTERM:
# Cluster below 9.0, Replication, Sentinel. When this server is the primary and
# a replica of the shard is in sync, that replica takes over before SIGTERM
# comes, without a lost write. Ends within the grace period less five seconds.
#
# Always exits with 0: the pod is going away in any case, and a failed hook only
# adds an event. Exactly one actor moves a role, so the role is read again right
# before each step, and whoever finds it moved is done.
set -u

SCRIPTS=${0%/*}
# shellcheck source=lib.sh
. "$SCRIPTS/lib.sh"
# shellcheck source=handover.sh
. "$SCRIPTS/handover.sh"

members

done_because() {
	say "preStop: $*"
	exit 0
}

# me COMMAND…: asks the own server.
me() { ask 2 "$POD_IP" "$VR_PORT" "$@"; }

main() {
	DEADLINE=$(($(now) + (${VALKEY_GRACE_SECONDS:-30} - 5) * 100))
	[ "$(left "$DEADLINE")" -ge 2 ] || done_because "the grace period leaves no time to hand over"
	[ "${VALKEY_REPLICAS:-0}" != 0 ] || done_because "there is no replica to hand over to"
	case $VALKEY_TOPOLOGY in
	Cluster)
		# A server with shutdown-on-sigterm failover does it on SIGTERM.
		[ "${VALKEY_VERSION%%.*}" -lt 9 ] || done_because "the server hands over by itself"
		;;
	Replication | Sentinel) ;;
	*) done_because "topology $VALKEY_TOPOLOGY has no roles" ;;
	esac
	INFO=$(me INFO replication)
	case $(field "$INFO" role) in
	master) ;;
	slave) done_because "this server is no primary" ;;
	*) done_because "the server does not tell its role: $INFO" ;;
	esac
	case $VALKEY_TOPOLOGY in
	Cluster) hand_over_cluster ;;
	Replication) hand_over_replication ;;
	Sentinel) hand_over_sentinel ;;
	esac
}

main "$@"
