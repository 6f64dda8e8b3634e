// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 holds the API group valkey-render.dev/v1alpha1: the
// ValkeyCluster that people write, the ValkeyACL beside it, and the ValkeyNode
// that the reconciler keeps for each data pod. Later versions stay
// schema-compatible with this one; there is no conversion webhook.
//
// +kubebuilder:object:generate=true
// +groupName=valkey-render.dev
package v1alpha1
