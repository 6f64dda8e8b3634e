#!/usr/bin/env bash
# SPDX-FileCopyrightText: The valkey-render Authors
# SPDX-License-Identifier: Apache-2.0

# Measures on a local Kubernetes of three nodes what docs/development.md has a table of: the
# benchmarks of test/e2e named BENCH (all), each COUNT times (5), and prints every run, the
# median, and what is aimed at. Nothing else should run on the machine.
set -euo pipefail
cd "$(dirname "$0")/.."

# shellcheck source=tools/cluster.sh
source tools/cluster.sh
only_local "make bench-live"
build_tests
go -C test build -o "$work/" ./bench
start_cluster bench
e2e -test.run '^$' -test.bench "${BENCH:-.}" -test.benchtime 1x -test.count "${COUNT:-5}" -test.timeout 0 | "$work/bench"
