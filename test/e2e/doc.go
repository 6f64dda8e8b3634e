// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package e2e tests valkey-render as its users run it: the built program against a whole
// Kubernetes, whose nodes run the pods. `make test-e2e` starts one cluster for all tests,
// or takes that of KUBECONFIG. The tests are named TestCluster… and built with the tag
// cluster.
package e2e
