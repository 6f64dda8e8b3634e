// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package object

// Keys and values of annotations that tell appliers how to treat an object.
const (
	argoSyncOptions    = "argocd.argoproj.io/sync-options"
	argoCompareOptions = "argocd.argoproj.io/compare-options"
	fluxPrune          = "kustomize.toolkit.fluxcd.io/prune"
	fluxSubstitute     = "kustomize.toolkit.fluxcd.io/substitute"
	helmPolicy         = "helm.sh/resource-policy"
	disabled           = "disabled"
)

// verbatim keeps Flux from replacing ${…} in text that is not its own.
func verbatim() map[string]string {
	return map[string]string{fluxSubstitute: disabled}
}

// kept makes every applier leave an object behind that is no longer rendered:
// claims outlive their StatefulSet.
func kept() map[string]string {
	return map[string]string{
		argoSyncOptions:    "Prune=false,Delete=false",
		argoCompareOptions: "IgnoreExtraneous",
		fluxPrune:          disabled,
		helmPolicy:         "keep",
	}
}

// stays makes appliers leave a StatefulSet that is no longer rendered alone. Without
// a reconciler nobody has moved its data away, and no guard would stop them.
func stays() map[string]string {
	a := verbatim()
	a[argoSyncOptions] = "Prune=false"
	a[fluxPrune] = disabled
	a[helmPolicy] = "keep"
	return a
}

// drainedFirst makes Argo CD prune after it has applied. It prunes first by
// default, the guard denies that for a shard that still has data, and the commit
// that asks for the drain would never be applied.
func drainedFirst() map[string]string {
	a := verbatim()
	a[argoSyncOptions] = "PruneLast=true"
	return a
}
