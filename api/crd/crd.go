// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package crd holds the CustomResourceDefinitions of api/v1alpha1 as text: for programs
// that install them, explain their fields or make schemas of them. `make generate` writes
// the files from the Go types.
package crd

import _ "embed" // the three files below

//go:embed valkey-render.dev_valkeyclusters.yaml
var valkeyCluster string

//go:embed valkey-render.dev_valkeyacls.yaml
var valkeyACL string

//go:embed valkey-render.dev_valkeynodes.yaml
var valkeyNode string

// ValkeyCluster returns the definition of ValkeyCluster, one YAML document.
func ValkeyCluster() string { return valkeyCluster }

// ValkeyACL returns the definition of ValkeyACL, one YAML document.
func ValkeyACL() string { return valkeyACL }

// ValkeyNode returns the definition of ValkeyNode, one YAML document.
func ValkeyNode() string { return valkeyNode }

// All returns the definitions in the order in which they are installed.
func All() []string { return []string{valkeyCluster, valkeyACL, valkeyNode} }
