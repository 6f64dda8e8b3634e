// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package apitest connects tests of the api tier to a real API server: one with
// controllers and without nodes, as `make test-api` starts it. Such tests are
// named TestAPIServer… and live in files *_api_test.go. Without a server they
// fail. They never use the cluster of KUBECONFIG, which may be somebody's.
package apitest
