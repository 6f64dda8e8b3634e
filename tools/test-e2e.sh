#!/usr/bin/env bash
# SPDX-FileCopyrightText: The valkey-render Authors
# SPDX-License-Identifier: Apache-2.0

# Runs the tests against a whole Kubernetes: those named TestCluster… in test/e2e. The
# cluster is one of localcluster's with three nodes, for which this has to run as root, and
# is taken down afterwards; with KUBECONFIG set it is that one, and nothing is started.
# Arguments go to go test. With SHORT set, as in make test, some are left out.
set -euo pipefail
cd "$(dirname "$0")/.."

if [[ -z ${KUBECONFIG:-} && $(id -u) != 0 ]]; then
	echo "make test-e2e: a cluster with nodes needs root; run it as root, or set KUBECONFIG to a cluster that may be used" >&2
	exit 1
fi

# shellcheck source=tools/cluster.sh
source tools/cluster.sh
build_tests
if [[ -n ${KUBECONFIG:-} ]]; then
	echo "KUBECONFIG=$KUBECONFIG is set: using that cluster, starting none" >&2
	export APISERVER_KUBECONFIG=$KUBECONFIG
	unset LOCALCLUSTER
else
	start_cluster e2e
fi

# All of it takes half an hour. What takes longest is left out: the runbook, every example
# and the largest cluster.
short=()
[[ -z ${SHORT:-} ]] || short=(-test.short -test.skip '^(TestClusterRunbook|TestClusterTwentyShards|TestClusterExamplesRun)$')
# Most of the time goes into waiting.
e2e -test.run TestCluster -test.parallel 3 -test.timeout 60m "${short[@]}" "$@"
if [[ -n $started ]] && (($# == 0)); then
	AUDIT_LOG=$(of_cluster audit)
	export AUDIT_LOG
	e2e -test.run TestAuditOfRights "${short[@]:0:1}"
fi
