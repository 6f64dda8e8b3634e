// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package gitops tests rendered objects with other people's appliers, on a real API
// server with its controllers and without nodes: with the engine inside Argo CD, with
// Helm, and with fluxcd/pkg/ssa, which is what Flux's kustomize-controller applies
// and prunes with. The controllers around these libraries do not run here: neither
// Argo CD's retries nor Flux's reconciling, only what one sync does.
//
// It is a module of its own, so that none of them becomes a dependency of the product.
package gitops
