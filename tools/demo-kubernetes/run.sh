#!/usr/bin/env bash
# SPDX-FileCopyrightText: The valkey-render Authors
# SPDX-License-Identifier: Apache-2.0

# Runs clusters on a Kubernetes, and writes and reads through their Services: on that of
# KUBECONFIG, or on a local one that it starts and leaves running. Run again, it finds all
# of it there. `run.sh down` takes it away.
set -euo pipefail

here=$(cd "$(dirname "$0")/../.." && pwd)
cd "$here"
namespace=valkey-demo
name=demo
work=$(mktemp -d)
doing=

bold='' plain=''
if [[ -t 1 && -z ${NO_COLOR:-} ]]; then
	bold=$'\e[1m' plain=$'\e[0m'
fi

say() {
	doing=$1
	printf '\n%s%s%s\n' "$bold" "$1" "$plain"
}

# shown COMMAND...: shows a command and runs it.
shown() {
	printf '$ %s\n' "$*"
	"$@"
}

local_cluster() { [[ -z ${foreign:-} ]]; }

localcluster() { "$work/localcluster" --source test --name "$name" "$@"; }

failed() {
	local status=$?
	rm -rf "$work"
	((status != 0)) || return 0
	printf '\ndemo: failed while: %s\nWhat to look at:\n' "${doing:-starting}" >&2
	if [[ -n ${KUBECONFIG:-} ]]; then
		printf '  %s\n' "export KUBECONFIG=$KUBECONFIG" \
			"$kubectl -n $namespace get events --sort-by=.lastTimestamp" \
			"$kubectl -n $namespace describe pods" \
			"$kubectl -n $namespace logs -l app.kubernetes.io/name=valkey --all-containers" >&2
	fi
	if local_cluster; then
		printf '  %s\n' "cd test && go run ./localcluster --name $name status" >&2
	fi
	printf 'It can be run again as it is; %s takes it away.\n' "tools/demo-kubernetes/run.sh down" >&2
}
trap failed EXIT

# start makes KUBECONFIG and kubectl those of the cluster.
start() {
	kubectl=kubectl
	go -C test build -o "$work/" ./localcluster
	go build -o "$work/" ./cmd/valkey-render ./cmd/valkey-topology
	PATH=$work:$PATH
	# What this told to export is no other cluster.
	if [[ ${KUBECONFIG:-} == "$(env -u KUBECONFIG "$work/localcluster" --source test --name "$name" kubeconfig 2>/dev/null)" ]]; then
		unset KUBECONFIG
	fi
	foreign=${KUBECONFIG:-}
	if ! local_cluster; then
		command -v kubectl >/dev/null || {
			echo "demo: KUBECONFIG is set, and there is no kubectl" >&2
			exit 1
		}
		return
	fi
	if [[ $(id -u) != 0 ]]; then
		echo "demo: a local cluster needs root; run this as root, or set KUBECONFIG to a cluster that may be used" >&2
		exit 1
	fi
}

up() {
	local_cluster || return 0
	shown localcluster up
	shown make -s image
	shown localcluster load-image dist/image.tar
	KUBECONFIG=$(localcluster kubeconfig)
	export KUBECONFIG
	kubectl=$(localcluster status | awk '$1 == "kubectl" { print $2 }')
}

down() {
	start
	if local_cluster; then
		shown localcluster down
	else
		shown kubectl delete namespace "$namespace" --ignore-not-found
		with_helm
		shown helm uninstall valkey-reconciler -n "$namespace-system" --ignore-not-found
		shown kubectl delete namespace "$namespace-system" --ignore-not-found
		echo 'The definitions of ValkeyCluster, ValkeyNode and ValkeyACL stay: other namespaces may have some.'
	fi
	exit 0
}

# single: one server. It writes and reads a key.
single() {
	local spec=tools/demo-kubernetes/single.yaml password
	say "single: rendered and applied"
	sed '/^#/d; s/^/    /' "$spec"
	# The reconciler's work, or that of a Job beside the cluster.
	image || shown valkey-topology run --kind secrets -n "$namespace" -f "$spec"
	shown valkey-render apply -n "$namespace" -f "$spec" --wait --timeout 5m

	say "single: write and read through its Service"
	password=$(password_of single)
	reachable single "$password"
	ask single "$password" SET greeting "hello from single"
	ask single "$password" GET greeting
}

# shards: three shards of two servers, which rendered Jobs make a cluster of. It writes and
# reads 10,000 keys.
shards() {
	local spec=tools/demo-kubernetes/shards.yaml job_image=()
	local_cluster || job_image=(--job-image "$IMAGE")
	say "shards: rendered and applied; its Jobs form it"
	sed '/^#/d; s/^/    /' "$spec"
	shown valkey-render apply -n "$namespace" -f "$spec" "${job_image[@]}" --wait --timeout 5m
	reachable shards "$(password_of shards)" -c
	say "shards: who owns which slots"
	owners shards
	say "shards: write and read 10,000 keys"
	fill shards
	count shards
}

# image: whether there is an image of the programs that pods can have.
image() { local_cluster || [[ -n ${IMAGE:-} ]]; }

# with_helm finds Helm on the machine, or builds the one of the charts' tests.
with_helm() {
	if ! command -v helm >/dev/null; then
		echo 'there is no helm: building it (once; minutes on a small machine)'
		go -C test/charts build -o "$work/" helm.sh/helm/v4/cmd/helm
	fi
}

# reconciler installs the chart.
reconciler() {
	local values=(--set image.tag=dev)
	local_cluster || values=(--set "image.repository=${IMAGE%:*}" --set "image.tag=${IMAGE##*:}")
	with_helm
	shown helm upgrade --install valkey-reconciler charts/valkey-reconciler -n "$namespace-system" --create-namespace \
		"${values[@]}" --wait --timeout 5m >"$work/notes" || {
		cat "$work/notes"
		return 1
	}
	"$kubectl" -n "$namespace-system" get deployments,pods
}

# cache: three shards that the reconciler forms, gives another directive to while they run,
# and makes four.
cache() {
	local spec=$work/cache.yaml
	cp tools/demo-kubernetes/cache.yaml "$spec"
	say "cache: rendered and applied; the reconciler forms it"
	sed '/^#/d; s/^/    /' "$spec"
	shown valkey-render apply -n "$namespace" -f "$spec" --wait --timeout 5m
	"$kubectl" -n "$namespace" get valkeyclusters,valkeynodes
	reachable cache "$(password_of cache)" -c
	fill cache

	say "cache: a live directive changes, and no pod restarts"
	change 's/allkeys-lru/allkeys-lfu/'
	# The Job that sets it starts when the reconciler has seen the ConfigMap.
	for _ in {1..30}; do
		[[ $(ask cache "$(password_of cache)" CONFIG GET maxmemory-policy) != *allkeys-lfu* ]] || break
		sleep 1
	done
	ask cache "$(password_of cache)" CONFIG GET maxmemory-policy | tee "$work/policy"
	grep -q allkeys-lfu "$work/policy" || {
		echo 'demo: the directive was not set within 30 s' >&2
		return 1
	}

	say "cache: a fourth shard"
	owners cache
	change 's/shards: 3/shards: 4/'
	owners cache | tee "$work/owners"
	[[ $(wc -l <"$work/owners") == 4 ]] || {
		echo 'demo: four shards were to own slots' >&2
		return 1
	}
	count cache

	say "cache: what the reconciler says"
	"$kubectl" -n "$namespace" get valkeycluster cache \
		-o jsonpath='{range .status.conditions[*]}{"    "}{.type}={.status}: {.message}{"\n"}{end}'
	"$kubectl" -n "$namespace" describe valkeycluster cache | sed -n '/^Events:/,$p'
}

# change SCRIPT applies the spec of cache as sed makes it.
change() {
	sed -i "$1" "$spec"
	{ diff tools/demo-kubernetes/cache.yaml "$spec" || true; } | sed -n 's/^[<>] /    &/p' | tail -n 2
	shown valkey-render apply -n "$namespace" -f "$spec" --wait --timeout 5m
}

# fill CLUSTER writes 10,000 keys, count CLUSTER reads them.
fill() {
	local n
	n=$(inside "$1" "$(password_of "$1")" 'seq 10000 | sed "s/.*/SET key:& value:&/" | valkey-cli -c -h '"$1"' | grep -cx OK')
	all "$n" written
}

count() {
	local n
	n=$(inside "$1" "$(password_of "$1")" 'seq 10000 | sed "s/.*/GET key:&/" | valkey-cli -c -h '"$1" | grep -cxFf <(seq -f 'value:%.0f' 10000))
	all "$n" 'read back'
}

all() {
	printf '    %s: %s\n' "$2" "$1"
	if [[ $1 != 10000 ]]; then
		echo "demo: 10000 keys were to be $2" >&2
		return 1
	fi
}

password_of() {
	"$kubectl" -n "$namespace" get secret "$1-auth" -o 'jsonpath={.data.password}' | base64 -d
}

# reachable CLUSTER PASSWORD WORDS...: a Service has its new pods a moment after they are
# ready.
reachable() {
	for _ in {1..30}; do
		[[ $(ask "$@" PING 2>&1) != *PONG* ]] || return 0
		sleep 1
	done
	echo "demo: the Service $1 does not answer: $(ask "$@" PING 2>&1)" >&2
	return 1
}

# ask CLUSTER PASSWORD WORDS...: valkey-cli in the cluster's first pod, at its Service.
ask() {
	local cluster=$1 password=$2
	shift 2
	printf '$ valkey-cli -h %s%s\n    ' "$cluster" "$(printf ' %q' "$@")"
	# shellcheck disable=SC2016 # it is the shell of the pod that expands it
	inside "$cluster" "$password" 'exec timeout 10 valkey-cli "$@"' -h "$cluster" "$@"
}

# inside CLUSTER PASSWORD SCRIPT WORDS...: sh -c SCRIPT in the cluster's first pod, where
# valkey-cli finds the password. It is read from standard input, where nobody else sees it.
inside() {
	local cluster=$1 password=$2 script=$3
	shift 3
	# shellcheck disable=SC2016 # it is the shell of the pod that expands it
	printf '%s\n' "$password" | "$kubectl" -n "$namespace" exec -i "$cluster-0-0" -c server -- \
		sh -c 'read -r VALKEYCLI_AUTH; REDISCLI_AUTH=$VALKEYCLI_AUTH; export VALKEYCLI_AUTH REDISCLI_AUTH; '"$script" demo "$@"
}

# owners CLUSTER: the pods that are primaries, and their slots.
owners() {
	{
		"$kubectl" -n "$namespace" get pods -l "valkey-render.dev/cluster=$1" --no-headers -o custom-columns=IP:.status.podIP,NAME:.metadata.name
		inside "$1" "$(password_of "$1")" 'valkey-cli CLUSTER NODES'
	} | awk '
		NF == 2 { pod[$1] = $2 }
		$3 ~ /master/ {
			sub(/:[0-9]+@.*/, "", $2)
			slots = ""
			for (i = 9; i <= NF; i++) slots = slots " " $i
			print "    " pod[$2] ":" slots
		}' | sort
}

main() {
	[[ ${1:-} != down ]] || down
	start
	say 'A Kubernetes'
	up
	printf 'Kubernetes %s\n' "$("$kubectl" version -o json | awk -F'"' '/"serverVersion"/ { server = 1 } server && /"gitVersion"/ { print $4 }')"
	"$kubectl" create namespace "$namespace" --dry-run=client -o yaml | "$kubectl" apply --server-side -f - >/dev/null
	"$kubectl" label --overwrite namespace "$namespace" pod-security.kubernetes.io/enforce=restricted >/dev/null

	if image; then
		say 'A reconciler, by Helm'
		reconciler
		single
		shards
		cache
	else
		"$kubectl" apply --server-side -f api/crd >/dev/null
		"$kubectl" wait --for=condition=Established -f api/crd --timeout=60s >/dev/null
		single
		say 'Three shards, and the reconciler: left out'
		echo 'They need an image of the programs that this Kubernetes can pull. Make one by make image, and name it: IMAGE=registry/name:tag make demo-kubernetes'
	fi

	say 'What is there now'
	"$kubectl" -n "$namespace" get valkeyclusters,statefulsets,pods,services,poddisruptionbudgets
	image || printf '\nNo reconciler is there, so the state of the ValkeyCluster stays Initializing\n'
	printf '\n'
	"$kubectl" -n "$namespace" get persistentvolumeclaims -o custom-columns=CLAIM:.metadata.name,STATUS:.status.phase,SIZE:.status.capacity.storage
	printf '\n'
	"$kubectl" -n "$namespace" get configmaps,secrets -o name

	say 'To look around, and to take it down'
	printf '  export KUBECONFIG=%s\n  %s -n %s get all\n' "$KUBECONFIG" "$kubectl" "$namespace"
	printf '  tools/demo-kubernetes/run.sh down\n'
}

main "$@"
