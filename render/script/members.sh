# shellcheck shell=dash
# SPDX-FileCopyrightText: The valkey-render Authors
# SPDX-License-Identifier: Apache-2.0
#
# Who the other pods are. Sourced by lib.sh.

# members: how many pods there are is no part of the pod template, since a change
# of it would roll the pods that are there. A ConfigMap tells, as in
#
#   replicas 2
#   sentinels 3
#   # valkey-render: end of members
#
# and the names follow from the pod's own. The kubelet may bring a change a
# minute late: a pod that is asked for and is not there counts as one that does
# not answer.
members() {
	local file=$VR_ROOT/live/members key value cluster domain
	ends_with "$file" '# valkey-render: end of members' || return 0
	while read -r key value; do
		case $key in
		replicas) VALKEY_REPLICAS=$value ;;
		sentinels) VALKEY_SENTINELS=$value ;;
		esac
	done <"$file"
	domain=${VALKEY_FQDN#*.*.}
	case $POD_NAME in
	*-sentinel-*)
		cluster=${POD_NAME%-sentinel-*}
		VALKEY_PEERS=$(names "$cluster-0" "$((VALKEY_REPLICAS + 1))" "$cluster-nodes.$domain")
		;;
	*)
		cluster=${POD_NAME%-*-*}
		VALKEY_PEERS=$(names "${POD_NAME%-*}" "$((VALKEY_REPLICAS + 1))" "$cluster-nodes.$domain")
		;;
	esac
	VALKEY_SENTINELS=$(names "$cluster-sentinel" "${VALKEY_SENTINELS:-0}" "$cluster-sentinel.$domain")
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

[ -n "${VALKEY_PEERS:-}" ] || members
