# shellcheck shell=dash
# SPDX-FileCopyrightText: The valkey-render Authors
# SPDX-License-Identifier: Apache-2.0
#
# Who the other pods are. Sourced by lib.sh. Probes, of which there are many, do not ask.

# members: how many pods there are is no part of the pod template, since a change
# of it would roll the pods that are there. A ConfigMap tells, as in
#
#   replicas 2
#   sentinels 3
#   # valkey-render: end of members
#
# and the names follow from the pod's own. The kubelet may bring a change a
# minute late, so a data pod knows better in one respect: there are at least as many
# pods as its own ordinal says. A pod that is asked for and is not there counts as
# one that does not answer.
members() {
	[ -z "${VALKEY_PEERS:-}" ] || return 0
	local file=$VR_ROOT/live/members key value cluster domain replicas='' sentinels=''
	ends_with "$file" '# valkey-render: end of members' || return 0
	while read -r key value; do
		case $key in
		replicas) replicas=$value ;;
		sentinels) sentinels=$value ;;
		esac
	done <"$file"
	# Without both numbers nothing is known, and start.sh refuses to start.
	whole "$replicas" && whole "$sentinels" || return 0
	VALKEY_REPLICAS=$replicas
	domain=${VALKEY_FQDN#*.*.}
	case $POD_NAME in
	*-sentinel-*)
		cluster=${POD_NAME%-sentinel-*}
		VALKEY_PEERS=$(names "$cluster-0" "$((VALKEY_REPLICAS + 1))" "$cluster-nodes.$domain")
		;;
	*)
		cluster=${POD_NAME%-*-*}
		if whole "${POD_NAME##*-}" && [ "${POD_NAME##*-}" -gt "$VALKEY_REPLICAS" ]; then
			VALKEY_REPLICAS=${POD_NAME##*-}
		fi
		VALKEY_PEERS=$(names "${POD_NAME%-*}" "$((VALKEY_REPLICAS + 1))" "$cluster-nodes.$domain")
		;;
	esac
	# shellcheck disable=SC2034 # for lib.sh and sentinel.sh
	VALKEY_SENTINELS=$(names "$cluster-sentinel" "$sentinels" "$cluster-sentinel.$domain")
}

# whole TEXT: it is a whole number.
whole() {
	case $1 in
	'' | *[!0-9]*) return 1 ;;
	esac
}

# names STATEFULSET COUNT DOMAIN: the DNS names of its pods.
names() {
	local i=0 all=''
	while [ "$i" -lt "$2" ]; do
		all="$all$1-$i.$3 "
		i=$((i + 1))
	done
	printf '%s\n' "${all% }"
}
