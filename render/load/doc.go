// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package load turns YAML into ValkeyCluster and ValkeyACL objects, strictly:
// what is not understood is an error with file, document, line and column, and
// what was most likely meant. Parse reads no files: callers hand it bytes.
// FromKustomization reads those of a kustomization, from the file system that it is
// given.
//
// Every violation is reported in one run. A document that is not even YAML
// hides nothing of the documents around it, and an object with errors is still
// in the Set, so that validation can add what it finds.
//
// One reading for all tools: kubectl and kustomize read YAML 1.1, many editors
// and linters 1.2. Where the two differ (on, yes, 010) the value is an error
// that says how to write it, never a guess. Aliases and merge keys are allowed
// up to ten times the size of the document.
package load
