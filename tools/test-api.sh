#!/usr/bin/env bash
# SPDX-FileCopyrightText: The valkey-render Authors
# SPDX-License-Identifier: Apache-2.0

# Runs the tests against a real API server: those named TestAPIServer…, in files
# *_api_test.go. The server is one of localcluster's, without nodes and without root, and
# is taken down afterwards. The cluster of KUBECONFIG is never touched.
set -euo pipefail
cd "$(dirname "$0")/.."

mapfile -t packages < <(
	git ls-files --cached --others --exclude-standard '*_api_test.go' |
		xargs -r -n1 dirname | sort -u | sed 's|^|./|'
)
if ((${#packages[@]} == 0)); then
	echo "no api test found" >&2
	exit 1
fi

unset KUBECONFIG
name=api-$$
program=$(mktemp)
trap '"$program" --source test down --name "$name" || true; rm -f "$program"' EXIT
go -C test build -o "$program" ./localcluster
"$program" --source test up --apiserver-only --name "$name"
APISERVER_KUBECONFIG=$("$program" --source test kubeconfig --name "$name")
export APISERVER_KUBECONFIG
go test -count=1 -p 1 -timeout 20m -run TestAPIServer "${packages[@]}"
