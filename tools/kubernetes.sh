#!/usr/bin/env bash
# SPDX-FileCopyrightText: The valkey-render Authors
# SPDX-License-Identifier: Apache-2.0

# Builds and downloads into the cache what a local Kubernetes is made of; needs no root.
# With KUBECONFIG set nodes are that cluster's, and only an API server is made here.
set -euo pipefail
cd "$(dirname "$0")/.."

nodes=()
[[ -z ${KUBECONFIG:-} ]] || nodes=(--apiserver-only)
program=$(mktemp)
running=
stop() {
	[[ -z $running ]] || kill "$running" 2>/dev/null || true
	wait
	exit 143
}
trap 'rm -f "$program"' EXIT
trap stop TERM INT
go -C test build -o "$program" ./localcluster
"$program" --source test fetch "${nodes[@]}" &
running=$!
wait "$running"
