# SPDX-FileCopyrightText: The valkey-render Authors
# SPDX-License-Identifier: Apache-2.0

# A line `target: prerequisites ## what it is for` is what `make help` prints.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-print-directory --no-builtin-rules
.DEFAULT_GOAL := help
.SUFFIXES:

# How long each fuzz target runs.
FUZZTIME ?= 10s
# What `make bench` measures, and how often.
BENCH ?= .
BENCHCOUNT ?= 1
# Least statement coverage, in percent, of render and of api.
COVERAGE ?= 90
# How often `make bench-live` measures each figure.
COUNT ?= 5
# How many random clusters `make test-soak` converges, and the seed of the first.
CLUSTERS ?= 100000
SEED ?= 1
# How long it does random faults to clusters that run, and their seed: drawn when empty.
SOAK ?= 30m
SOAKSEED ?=
# The tag of the image, and the version of the programs in it.
VERSION ?= dev
# The stages of `make test`, in order. All of them run, whichever fails.
STAGES ?= test-unit test-process test-api test-e2e fuzz cover

export FUZZTIME COVERAGE

# With cgo, package plugin (kustomize imports it) has every program linked by the C linker
# and keeps all unused code in it: twice the time for each test program.
export CGO_ENABLED := 0

# One way of building for all: programs, images, tests and the local Kubernetes have most
# packages in common, which are then compiled once.
export GOFLAGS := -trimpath $(filter-out -trimpath,$(GOFLAGS))

# Tests that start real servers have Process in their names, those that need an API
# server begin with TestAPIServer, those that need a whole cluster with TestCluster. The
# latter are in modules of their own, below test/.
unit := go test -timeout 10m -skip 'Process|TestAPIServer'

.PHONY: help
help: ## list the targets
	@awk 'BEGIN { FS = ":.*## " } /^[a-z0-9-]+:.*## / { printf "  %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: ## render an example, change it, show what the change would do, and run it on real servers
	@go build -o bin/ ./cmd/valkey-render ./internal/demo
	@VALKEY_RENDER_BIN="$(CURDIR)/bin" examples/demo.sh
	@VALKEY_RENDER_BIN="$(CURDIR)/bin" examples/demo-servers.sh

.PHONY: demo-kubernetes
demo-kubernetes: ## show the reconciler at work, on the Kubernetes of KUBECONFIG or on a local one
	@tools/demo-kubernetes/run.sh

.PHONY: build
build: ## build the programs into bin/
	go build -buildvcs=auto -trimpath -o bin/ ./cmd/*-*

.PHONY: image
image: ## the image of the programs, as dist/image.tar, tagged VERSION (dev); without Docker
	@mkdir -p dist
	go -C test run ./localcluster/productimage --version $(VERSION) --output ../dist/image.tar

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
	cd test && "$$(../tools/build.sh golangci-lint)/golangci-lint" run --build-tags cluster
	tools/shellcheck.sh

.PHONY: test
test: export SHORT ?= yes
test: ## tests of every tier, fuzzing, coverage; with SHORT= all of them, which takes longer
	@tools/stages.sh $(STAGES)

.PHONY: check
check: ## what tests do not see: verify, lint, test-race
	@tools/stages.sh verify lint test-race

.PHONY: test-unit
test-unit: prepare ## tests without servers
	$(unit) -exec 'env GOMAXPROCS=8 LC_ALL=C TZ=America/St_Johns' -shuffle=on ./...

.PHONY: test-race
test-race: prepare ## tests without servers, under the race detector
	CGO_ENABLED=1 $(unit) -race ./...

.PHONY: update-goldens
update-goldens: prepare ## write what tests without servers expect anew; read the diff
	go test -count=1 -skip 'Process|TestAPIServer' $$(git grep --untracked -l '/internal/golden"' -- '*_test.go' ':(exclude)test' | xargs -n1 dirname | sort -u | sed 's|^|./|') -update

.PHONY: test-process
test-process: servers ## tests against real valkey-server processes of every version there is
	tools/test-process.sh

.PHONY: test-api
test-api: prepare ## tests against a real API server, which localcluster starts and takes down
	tools/test-api.sh

.PHONY: test-e2e
test-e2e: prepare ## tests on a whole Kubernetes: that of KUBECONFIG, or a local one (as root)
	tools/test-e2e.sh

.PHONY: test-localcluster
test-localcluster: prepare ## tests of the local Kubernetes itself (as root)
	go -C test test -count=1 ./localcluster/...
	go -C test test -count=1 -tags cluster -timeout 60m ./localcluster
	go -C test/addons test -count=1 ./...

.PHONY: kubernetes
kubernetes: prepare ## build and download what a local Kubernetes is made of into the cache
	@tools/kubernetes.sh

.PHONY: fuzz
fuzz: servers ## every fuzz target for FUZZTIME (10s), two at a time
	tools/fuzz.sh

.PHONY: cover
cover: prepare ## tests of what renders and decides in another environment; fails when render or api is covered below COVERAGE (90)
	tools/cover.sh

.PHONY: test-soak
test-soak: test-soak-model test-soak-faults ## both of these: it takes hours

.PHONY: test-soak-model
test-soak-model: prepare ## CLUSTERS (100000) random clusters of the model, from SEED (1) on, with faults
	CLUSTERS=$(CLUSTERS) SEED=$(SEED) GOGC=400 go test -count=1 -timeout 0 -v -run '^TestRandomClusters$$' ./topologyjob/converge

.PHONY: test-soak-faults
test-soak-faults: prepare ## operations and faults for SOAK (30m), on a local Kubernetes under writes (as root)
	SOAK=$(SOAK) SOAKSEED=$(SOAKSEED) tools/soak-faults.sh

.PHONY: bench
bench: ## benchmarks named BENCH (all), BENCHCOUNT times (1)
	go test -run '^$$' -bench '$(value BENCH)' -benchmem -count $(BENCHCOUNT) ./...

.PHONY: bench-live
bench-live: prepare ## times and stalls on a local Kubernetes, those named BENCH (all), COUNT times (5) (as root)
	BENCH='$(value BENCH)' COUNT=$(COUNT) tools/bench-live.sh

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
