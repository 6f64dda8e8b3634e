// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"github.com/fluxcd/pkg/ssa"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// FieldManager is the name under which the renderer's fields are owned. It never
// changes: another name would leave the fields of the old one behind for ever.
const FieldManager = "valkey-render"

// takeover lists who wrote whole objects before us. Their fields become ours
// first and then follow the rendering, so that what is no longer rendered goes
// away instead of staying with an owner that never comes back.
//
// Left alone on purpose: kubectl-rollout (its annotation asks for a restart),
// kubectl-label and kubectl-annotate (tokens of actions), kubectl scale (a
// subresource), every controller, and other appliers such as Argo CD and Flux.
func takeover() []ssa.FieldManager {
	const update, apply = metav1.ManagedFieldsOperationUpdate, metav1.ManagedFieldsOperationApply
	return []ssa.FieldManager{
		// kubectl apply, without --server-side.
		{Name: "kubectl-client-side-apply", ExactMatch: true, OperationType: update},
		// kubectl apply --server-side.
		{Name: "kubectl", ExactMatch: true, OperationType: apply},
		// What kubectl apply --server-side keeps of an earlier client-side apply:
		// the annotation last-applied-configuration.
		{Name: "kubectl-last-applied", ExactMatch: true, OperationType: apply},
		// kubectl create and kubectl replace.
		{Name: "kubectl-create", ExactMatch: true, OperationType: update},
		{Name: "kubectl-replace", ExactMatch: true, OperationType: update},
		// Changes by hand of what is rendered: the rendering is what was reviewed.
		{Name: "kubectl-edit", ExactMatch: true, OperationType: update},
		{Name: "kubectl-patch", ExactMatch: true, OperationType: update},
		{Name: "kubectl-set", ExactMatch: true, OperationType: update},
		// Helm 3, and with it the valkey-helm chart and charts/valkey-cluster.
		{Name: "helm", ExactMatch: true, OperationType: update},
		// Helm 4 applies server-side.
		{Name: "helm", ExactMatch: true, OperationType: apply},
		// The API server's name for the fields of an object that had no managed
		// fields when it was first applied: one that is older than they are.
		{Name: "before-first-apply", ExactMatch: true, OperationType: update},
	}
}

// takesOver reports whether what others wrote of an object becomes ours. A claim
// is left as it is: its spec cannot change anyway, and one of its fields that is
// not rendered, the volume it is bound to, must not go.
func takesOver(o *unstructured.Unstructured) bool { return o.GetKind() != "PersistentVolumeClaim" }

// leftovers are annotations that only mean something to who is taken over from.
func leftovers() []string {
	return []string{
		"kubectl.kubernetes.io/last-applied-configuration",
		"meta.helm.sh/release-name",
		"meta.helm.sh/release-namespace",
	}
}

func applyOptions(o *unstructured.Unstructured) ssa.ApplyOptions {
	options := ssa.DefaultApplyOptions()
	// Force would delete and make anew what the server refuses to change.
	options.Force = false
	if takesOver(o) {
		options.Cleanup = ssa.ApplyCleanupOptions{FieldManagers: takeover(), Annotations: leftovers()}
	}
	return options
}

// claimants lists who else wrote a live object: the managers that are taken over
// from, and the other appliers, which will go on.
func claimants(live *unstructured.Unstructured) (taken, others []string) {
	seen := map[string]bool{}
	for _, entry := range live.GetManagedFields() {
		if entry.Subresource != "" || entry.Manager == FieldManager || seen[entry.Manager] {
			continue
		}
		switch {
		case isTakenOver(entry) && takesOver(live):
			taken = append(taken, entry.Manager)
		case entry.Operation == metav1.ManagedFieldsOperationApply:
			others = append(others, entry.Manager)
		default:
			continue
		}
		seen[entry.Manager] = true
	}
	return taken, others
}

func isTakenOver(entry metav1.ManagedFieldsEntry) bool {
	for _, m := range takeover() {
		if m.Name == entry.Manager && m.OperationType == entry.Operation {
			return true
		}
	}
	return false
}

// needsTakeover reports whether a write is due though the content is right.
func needsTakeover(live *unstructured.Unstructured) bool {
	if !takesOver(live) {
		return false
	}
	taken, _ := claimants(live)
	return len(taken) > 0 || len(ssa.PatchRemoveAnnotations(live, leftovers())) > 0
}

// isOwned reports whether the renderer owns fields of a live object.
func isOwned(live *unstructured.Unstructured) bool {
	for _, entry := range live.GetManagedFields() {
		if entry.Manager == FieldManager && entry.Operation == metav1.ManagedFieldsOperationApply && entry.Subresource == "" {
			return true
		}
	}
	return false
}

// writers are the managers of everything but subresources, for messages.
func writers(live *unstructured.Unstructured) []string {
	var out []string
	seen := map[string]bool{}
	for _, entry := range live.GetManagedFields() {
		if entry.Subresource == "" && !seen[entry.Manager] {
			seen[entry.Manager] = true
			out = append(out, entry.Manager)
		}
	}
	return out
}
