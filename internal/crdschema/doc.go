// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package crdschema reads the schemas of our CustomResourceDefinitions: to
// explain a field as `kubectl explain` does, without a cluster, and to make JSON
// Schemas for editors.
package crdschema
