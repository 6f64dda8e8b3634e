// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// No node has more; beyond, a mistyped unit is certain and sums would overflow.
const (
	mostBytes = "1Pi"
	mostCPUs  = "1000000"
)

// resources reports what no container can ask for: names that Kubernetes does not
// know, amounts that are no amount of them, and requests beyond their limits.
func (v *violations) resources(path *field.Path, r corev1.ResourceRequirements) {
	if len(r.Claims) > 0 {
		v.forbidden(path.Child("claims"), "a claim needs spec.resourceClaims of the pod, which is not rendered")
	}
	for _, name := range sortedKeys(r.Limits) {
		amount := r.Limits[name]
		at := path.Child("limits").Key(string(name))
		if v.resourceName(at, name) {
			v.amount(at, name, amount)
		}
	}
	for _, name := range sortedKeys(r.Requests) {
		amount := r.Requests[name]
		at := path.Child("requests").Key(string(name))
		if v.resourceName(at, name) && v.amount(at, name, amount) {
			limit, limited := r.Limits[name]
			v.request(at, name, amount, limit, limited)
		}
	}
	huge := slices.ContainsFunc(append(sortedKeys(r.Limits), sortedKeys(r.Requests)...), isHugePages)
	if huge && !asksFor(r, corev1.ResourceCPU) && !asksFor(r, corev1.ResourceMemory) {
		v.required(path, "cpu or memory beside hugepages")
	}
}

// request holds that a request is not beyond its limit, and equal to it where a
// resource cannot be overcommitted.
func (v *violations) request(at *field.Path, name corev1.ResourceName, amount, limit resource.Quantity, limited bool) {
	switch whole := isHugePages(name) || isExtended(name); {
	case whole && !limited:
		v.required(at, "a limit of the same amount: %s cannot be overcommitted", name)
	case whole && amount.Cmp(limit) != 0:
		v.invalid(at, amount.String(), "must be the limit of %s: %s cannot be overcommitted", limit.String(), name)
	case limited && amount.Cmp(limit) > 0:
		v.invalid(at, amount.String(), "must not be more than the limit of %s", limit.String())
	}
}

func asksFor(r corev1.ResourceRequirements, name corev1.ResourceName) bool {
	_, limited := r.Limits[name]
	_, requested := r.Requests[name]
	return limited || requested
}

func isHugePages(name corev1.ResourceName) bool {
	return strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

// isExtended says whether a resource is a device plugin's: it has a domain, which
// is not that of Kubernetes.
func isExtended(name corev1.ResourceName) bool {
	domain, _, found := strings.Cut(string(name), "/")
	return found && domain != "kubernetes.io" && !strings.HasSuffix(domain, ".kubernetes.io")
}

// resourceName says whether a container can ask for a resource of this name.
func (v *violations) resourceName(at *field.Path, name corev1.ResourceName) bool {
	standard := []string{string(corev1.ResourceCPU), string(corev1.ResourceMemory), string(corev1.ResourceEphemeralStorage)}
	before := len(v.list)
	switch {
	case slices.Contains(standard, string(name)):
	case isHugePages(name):
		if page, err := pageSize(name); err != nil || page.Sign() <= 0 {
			v.invalid(at, name, "must end in the size of a page, like hugepages-2Mi")
		}
	case isExtended(name) && !strings.HasPrefix(string(name), "requests."):
		v.labelKey(at, string(name))
	default:
		v.invalid(at, name, "%sa container has cpu, memory, ephemeral-storage, hugepages-<size>, or a resource with a domain of its own", didYouMean(string(name), standard))
	}
	return len(v.list) == before
}

func pageSize(name corev1.ResourceName) (resource.Quantity, error) {
	return resource.ParseQuantity(strings.TrimPrefix(string(name), corev1.ResourceHugePagesPrefix))
}

// amount says whether there can be so much of a resource.
func (v *violations) amount(at *field.Path, name corev1.ResourceName, amount resource.Quantity) bool {
	most := resource.MustParse(mostBytes)
	switch {
	case name == corev1.ResourceCPU:
		most = resource.MustParse(mostCPUs)
	case isExtended(name):
		most = *resource.NewQuantity(math.MaxInt64, resource.DecimalSI)
	}
	before := len(v.list)
	switch whole := amount.MilliValue()%1000 == 0; {
	case amount.Sign() < 0:
		v.invalid(at, amount.String(), "must not be below zero")
	case amount.Cmp(most) > 0:
		v.invalid(at, amount.String(), "must not be more than %s", most.String())
	case name == corev1.ResourceCPU:
	case isExtended(name) && !whole:
		v.invalid(at, amount.String(), "must be a whole number: %s cannot be divided", name)
	case !whole:
		v.invalid(at, amount.String(), "must be whole bytes; m is a thousandth: did you mean %dMi?", amount.MilliValue())
	case isHugePages(name):
		if page, err := pageSize(name); err == nil && page.Value() > 0 && amount.Value()%page.Value() != 0 {
			v.invalid(at, amount.String(), "must be a multiple of the page size %s", page.String())
		}
	}
	return len(v.list) == before
}
