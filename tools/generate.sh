#!/bin/sh
# SPDX-FileCopyrightText: The valkey-render Authors
# SPDX-License-Identifier: Apache-2.0

# Writes everything that is generated and checked in: deep copies and CRDs from the types
# in api, then whatever a go:generate line asks for.
set -eu
cd "$(dirname "$0")/.."

bin=$(tools/build.sh controller-gen)

"$bin/controller-gen" \
	object:headerFile=tools/header.go.txt \
	crd \
	paths=./api/v1alpha1/... \
	output:crd:dir=api/crd
go run ./internal/trimcrd api/crd/*.yaml

go generate ./...
