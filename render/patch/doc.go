// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package patch applies spec.patches to the composed objects with kustomize's
// own filters: strategic merge patches and JSON 6902 operations, selected by
// regular expressions and label selectors as in a kustomization.
//
// A patch is all or nothing: one that is refused, fails or matches nothing is
// an error at its index and changes nothing, and the patches after it are still
// tried, so that one run names every one that is wrong.
//
// # What a patch may not touch
//
//   - apiVersion, kind, name and namespace of any object;
//   - the labels and annotations of valkey-render.dev, and the recommended
//     labels of app.kubernetes.io, on objects and on pod templates;
//   - selectors, and of a StatefulSet replicas, serviceName, podManagementPolicy
//     and volumeClaimTemplates;
//   - what the containers server and exporter and the init containers were
//     given: command, args, lifecycle (server only), and the entries of env,
//     ports and volumeMounts. More entries may be added;
//   - the volumes that they mount;
//   - ports, clusterIP and publishNotReadyAddresses of a Service; ports may be
//     added;
//   - the data of the ConfigMaps <cluster>-live and <cluster>-scripts;
//   - the secretName of a Certificate, and the names it was given;
//   - the spec of a ValkeyCluster or ValkeyACL: what is applied must be what was
//     rendered.
//
// A patch may delete PodDisruptionBudgets, NetworkPolicies, PodMonitors,
// PrometheusRules and the dashboard's ConfigMap, and nothing else.
//
// # Order
//
// kustomize puts list entries that a strategic merge patch adds before those
// that were there.
package patch
