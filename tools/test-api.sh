#!/usr/bin/env bash
# SPDX-FileCopyrightText: The valkey-render Authors
# SPDX-License-Identifier: Apache-2.0

# Runs the tests against a real API server: those named TestAPIServer…, in files
# *_api_test.go, and the modules test/gitops, which is about other people's appliers, and
# test/charts. The servers are of localcluster, without nodes and without root, and are taken
# down afterwards. The cluster of KUBECONFIG is never touched.
#
# The tests wait more than they compute, and not all of them bear others beside them: a guard
# is for a whole cluster. So there are two servers, each for one thing at a time. What is said
# of the second is printed when it ends.
set -euo pipefail
cd "$(dirname "$0")/.."

mapfile -t packages < <(
	git ls-files --cached --others --exclude-standard '*_api_test.go' ':(exclude)test/' |
		xargs -r -n1 dirname | sort -u | sed 's|^|./|'
)
if ((${#packages[@]} == 0)); then
	echo "no api test found" >&2
	exit 1
fi

unset KUBECONFIG
work=$(mktemp -d)
beside=
# shellcheck disable=SC2329 # it is the trap
cleanup() {
	if [[ -n $beside ]] && kill -- "-$beside" 2>/dev/null; then
		wait "$beside" || true
	fi
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
go -C test build -o "$work/localcluster" ./localcluster

# of PACKAGE...: runs their tests, one package after the other.
of() { go test -count=1 -p 1 -timeout 30m -run TestAPIServer "$@"; }

others=()
for package in "${packages[@]}"; do
	[[ $package == ./render/apply ]] || others+=("$package")
done

# lane NAME: has a server of its own, in a subshell. appliers is all that applies, our own and
# those of others.
lane() {
	local name=api-$1-$$ failed=0
	# shellcheck disable=SC2064 # the name is that of now
	trap "'$work/localcluster' --source test down --name $name || true" EXIT
	trap 'exit 143' TERM
	"$work/localcluster" --source test up --apiserver-only --name "$name" || exit
	APISERVER_KUBECONFIG=$("$work/localcluster" --source test kubeconfig --name "$name") || exit
	APISERVER_KUBECTL=$("$work/localcluster" --source test status --name "$name" | awk '$1 == "kubectl" { print $2 }') || exit
	export APISERVER_KUBECONFIG APISERVER_KUBECTL
	case $1 in
	appliers)
		of ./render/apply || failed=1
		go -C test/gitops test -count=1 -timeout 30m ./... || failed=1
		go -C test/charts test -count=1 -timeout 30m ./... || failed=1
		;;
	others) of "${others[@]}" || failed=1 ;;
	esac
	exit "$failed"
}

# With job control it has a process group of its own, which can be ended as a whole.
set -m
(lane appliers) >"$work/output" 2>&1 &
beside=$!
set +m
failed=0
(lane others) || failed=1
wait "$beside" || failed=1
beside=
cat "$work/output"
((failed == 0))
