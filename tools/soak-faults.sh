#!/usr/bin/env bash
# SPDX-FileCopyrightText: The valkey-render Authors
# SPDX-License-Identifier: Apache-2.0

# Does random operations and faults, for SOAK (30m), to clusters that are written to, on a
# local Kubernetes of three nodes: TestFaultSoak of test/e2e. SOAKSEED does the same again
# that another run has printed.
set -euo pipefail
cd "$(dirname "$0")/.."

# shellcheck source=tools/cluster.sh
source tools/cluster.sh
only_local "make test-soak-faults"
build_tests
start_cluster soak
export SOAK=${SOAK:-30m} SOAKSEED=${SOAKSEED:-}
e2e -test.run '^TestFaultSoak$' -test.v -test.timeout 0
