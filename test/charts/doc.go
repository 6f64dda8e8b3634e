// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package charts tests the charts with Helm itself, as a library: what they render to,
// what their schemas refuse, and, on a real API server, a release from its installation
// to its end. Alerts are evaluated by Prometheus' own engine.
//
// It is a module of its own, so that none of them becomes a dependency of the product.
package charts
