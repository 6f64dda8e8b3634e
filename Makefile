# SPDX-FileCopyrightText: The valkey-render Authors
# SPDX-License-Identifier: Apache-2.0

# A line `target: prerequisites ## what it is for` is what `make help` prints.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-print-directory --no-builtin-rules
.DEFAULT_GOAL := help
.SUFFIXES:

# How long each fuzz target runs.
FUZZTIME ?= 30s
# What `make bench` measures, and how often.
BENCH ?= .
BENCHCOUNT ?= 1
# Least statement coverage, in percent, of render and of api.
COVERAGE ?= 90
# The stages of `make test`, in order. All of them run, whichever fails.
STAGES ?= verify lint test-unit test-process fuzz cover

export FUZZTIME COVERAGE

# Tests that start real servers have Process in their names, those that need an API
# server begin with TestAPIServer.
unit := go test -timeout 10m -skip 'Process|TestAPIServer'

.PHONY: help
help: ## list the targets
	@awk 'BEGIN { FS = ":.*## " } /^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: ## render an example, change it, and show what the change would do
	@examples/demo.sh

.PHONY: build
build: ## build the programs into bin/
	go build -buildvcs=auto -trimpath -o bin/ ./cmd/...

.PHONY: generate
generate: ## deep copies and CRDs from the API types, then go generate
	tools/generate.sh

.PHONY: verify
verify: prepare ## fail if generate, fmt or go mod tidy would change a file
	tools/verify.sh

.PHONY: fmt
fmt: ## format the Go code
	"$$(tools/build.sh golangci-lint)/golangci-lint" fmt

.PHONY: vet
vet: ## go vet
	go vet ./...

.PHONY: lint
lint: prepare ## golangci-lint, and shellcheck over the scripts
	"$$(tools/build.sh golangci-lint)/golangci-lint" run
	tools/shellcheck.sh

.PHONY: test
test: ## everything: verify, lint, unit and process tests, fuzzing, coverage
	@tools/stages.sh $(STAGES)

.PHONY: test-unit
test-unit: prepare ## tests without servers: under the race detector, then under other environments
	$(unit) -race ./...
	$(unit) -count=1 -exec 'env GOMAXPROCS=1 LC_ALL=tr_TR.UTF-8 TZ=Asia/Kathmandu' ./...
	$(unit) -count=1 -exec 'env GOMAXPROCS=8 LC_ALL=C TZ=America/St_Johns' -shuffle=on ./...

.PHONY: update-goldens
update-goldens: prepare ## write what tests without servers expect anew; read the diff
	go test -count=1 -skip Process $$(git grep --untracked -l '/internal/golden"' -- '*_test.go' | xargs -n1 dirname | sort -u | sed 's|^|./|') -update

.PHONY: test-process
test-process: servers ## tests against real valkey-server processes of every version there is
	tools/test-process.sh

.PHONY: test-api
test-api: prepare ## tests against a real API server, which localcluster starts and takes down
	tools/test-api.sh

.PHONY: fuzz
fuzz: servers ## every fuzz target for FUZZTIME (30s), two at a time
	tools/fuzz.sh

.PHONY: cover
cover: prepare ## statement coverage by package; fails when render or api is below COVERAGE (90)
	tools/cover.sh

.PHONY: bench
bench: ## benchmarks named BENCH (all), BENCHCOUNT times (1)
	go test -run '^$$' -bench '$(BENCH)' -benchmem -count $(BENCHCOUNT) ./...

.PHONY: vulncheck
vulncheck: ## known vulnerabilities in what is called (needs the Internet)
	"$$(tools/build.sh govulncheck)/govulncheck" ./...

.PHONY: servers
servers: prepare ## fetch the real valkey-server programs that tests start
	test/servers/fetch.sh

.PHONY: tools
tools: ## build the pinned tools of tools/go.mod into the cache
	tools/build.sh

.PHONY: clean
clean: ## remove what was built here (caches outside the tree stay)
	rm -rf bin dist coverage coverage.*

# What the machine itself must have; installed with apt-get where that is possible.
.PHONY: prepare
prepare: ## install what tests and tools call and the machine lacks
	@tools/prepare.sh
