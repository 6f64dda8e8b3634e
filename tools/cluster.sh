#!/usr/bin/env bash
# SPDX-FileCopyrightText: The valkey-render Authors
# SPDX-License-Identifier: Apache-2.0

# Sourced, in the root of the tree, by scripts that run test/e2e. It makes the directory
# $work, which goes at the end together with the cluster.

work=$(mktemp -d)
started=
cleanup() {
	[[ -z $started ]] || "$work/localcluster" --source test down --name "$LOCALCLUSTER_NAME" || true
	rm -rf "$work"
}
trap cleanup EXIT

# build_tests: builds the programs and tests, and tells the tests where they are.
build_tests() {
	go build -o "$work/" ./cmd/valkey-render ./cmd/valkey-topology
	go -C test build -o "$work/" ./writer ./localcluster
	go -C test test -c -tags cluster -o "$work/e2e.test" ./e2e
	export VALKEY_RENDER=$work/valkey-render VALKEY_TOPOLOGY=$work/valkey-topology WRITER=$work/writer
}

# start_cluster PREFIX: starts three nodes with the image of the programs.
start_cluster() {
	export LOCALCLUSTER=$work/localcluster LOCALCLUSTER_NAME=$1-$$
	started=yes
	"$LOCALCLUSTER" --source test up --nodes 3 --name "$LOCALCLUSTER_NAME"
	go -C test run ./localcluster/productimage --output "$work/image.tar"
	"$LOCALCLUSTER" --source test load-image --name "$LOCALCLUSTER_NAME" "$work/image.tar"
	APISERVER_KUBECONFIG=$("$LOCALCLUSTER" --source test kubeconfig --name "$LOCALCLUSTER_NAME")
	KUBECTL=$(of_cluster kubectl)
	VALKEY_CLI=$(test/servers/fetch.sh)/9.1/bin/valkey-cli
	export APISERVER_KUBECONFIG KUBECTL VALKEY_CLI
}

# of_cluster NAME: a line of its status.
of_cluster() {
	"$LOCALCLUSTER" --source test status --name "$LOCALCLUSTER_NAME" | awk -v name="$1" '$1 == name { print $2 }'
}

# only_local NAME: ends the script where the cluster cannot be a local one.
only_local() {
	if [[ -n ${KUBECONFIG:-} || $(id -u) != 0 ]]; then
		echo "$1: it ends nodes and processes, and so needs a local cluster: run it as root, without KUBECONFIG" >&2
		exit 1
	fi
}

# e2e ARGUMENT...: runs tests in the directory that go test would run them in.
e2e() { (cd test/e2e && "$work/e2e.test" "$@"); }
