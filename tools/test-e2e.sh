#!/usr/bin/env bash
# SPDX-FileCopyrightText: The valkey-render Authors
# SPDX-License-Identifier: Apache-2.0

# Runs the tests against a whole Kubernetes: those named TestCluster… in test/e2e. The
# cluster is one of localcluster's with three nodes, for which this has to run as root, and
# is taken down afterwards; with KUBECONFIG set it is that one, and nothing is started.
# Arguments go to go test.
set -euo pipefail
cd "$(dirname "$0")/.."

if [[ -z ${KUBECONFIG:-} && $(id -u) != 0 ]]; then
	echo "make test-e2e: a cluster with nodes needs root; run it as root, or set KUBECONFIG to a cluster that may be used" >&2
	exit 1
fi

work=$(mktemp -d)
started=
cleanup() {
	[[ -z $started ]] || "$work/localcluster" --source test down --name "$LOCALCLUSTER_NAME" || true
	rm -rf "$work"
}
trap cleanup EXIT

go build -o "$work/" ./cmd/valkey-render ./cmd/valkey-topology
go -C test test -c -tags cluster -o "$work/e2e.test" ./e2e
export VALKEY_RENDER=$work/valkey-render VALKEY_TOPOLOGY=$work/valkey-topology

if [[ -n ${KUBECONFIG:-} ]]; then
	echo "KUBECONFIG=$KUBECONFIG is set: using that cluster, starting none" >&2
	export APISERVER_KUBECONFIG=$KUBECONFIG
	unset LOCALCLUSTER
else
	go -C test build -o "$work/localcluster" ./localcluster
	export LOCALCLUSTER=$work/localcluster LOCALCLUSTER_NAME=e2e-$$
	started=yes
	"$LOCALCLUSTER" --source test up --nodes 3 --name "$LOCALCLUSTER_NAME"
	go -C test run ./localcluster/productimage --output "$work/image.tar"
	"$LOCALCLUSTER" --source test load-image --name "$LOCALCLUSTER_NAME" "$work/image.tar"
	APISERVER_KUBECONFIG=$("$LOCALCLUSTER" --source test kubeconfig --name "$LOCALCLUSTER_NAME")
	KUBECTL=$("$LOCALCLUSTER" --source test status --name "$LOCALCLUSTER_NAME" | awk '$1 == "kubectl" { print $2 }')
	VALKEY_CLI=$(test/servers/fetch.sh)/9.1/bin/valkey-cli
	export APISERVER_KUBECONFIG KUBECTL VALKEY_CLI
fi

# e2e ARGUMENT...: runs tests in the directory that go test would run them in.
e2e() { (cd test/e2e && "$work/e2e.test" "$@"); }

# Most of the time goes into waiting.
e2e -test.run TestCluster -test.parallel 4 -test.timeout 30m "$@"
if [[ -n $started ]] && (($# == 0)); then
	AUDIT_LOG=$("$LOCALCLUSTER" --source test status --name "$LOCALCLUSTER_NAME" | awk '$1 == "audit" { print $2 }')
	export AUDIT_LOG
	e2e -test.run TestAuditOfRights
fi
