// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// MaxClusterName is the longest name of a cluster: its StatefulSets leave room
// for the revision hash in a label, its Jobs for the suffix of their pods.
const MaxClusterName = 40

// Validate reports everything that is wrong with the cluster, one error for
// each violation, with the path of its field and what would be right. It does
// not know the directives of spec.config and spec.sentinel.config, and it does
// not look at other objects. The CRD holds most of the same rules in the API
// server; what only a build can see (a digest without version, contents of
// embedded Kubernetes types, cron, URLs) is held here alone. An object that
// passes here passes there.
func (c *ValkeyCluster) Validate() field.ErrorList {
	v := &violations{}
	spec := field.NewPath("spec")
	v.clusterName(field.NewPath("metadata", "name"), c.Name)
	v.metadata(&c.ObjectMeta)
	c.validateTopology(v, spec)
	c.validateVersion(v, spec)
	c.validateModules(v, spec.Child("modules"))
	c.validateStorage(v, spec.Child("storage"))
	c.validateAuth(v, spec.Child("auth"))
	validateUsers(v, spec.Child("users"), c.Spec.Users, c.Name)
	c.validateTLS(v, spec.Child("tls"))
	c.validateNetworking(v, spec.Child("networking"))
	c.validateScheduling(v, spec.Child("scheduling"))
	c.validateBudget(v, spec.Child("podDisruptionBudget"))
	c.validatePod(v, spec.Child("pod"))
	c.validateMetrics(v, spec.Child("metrics"))
	c.validateNetworkPolicy(v, spec.Child("networkPolicy"))
	c.validateOperations(v, spec)
	c.validateJobsTemplate(v, spec.Child("jobsTemplate"))
	c.validateBackup(v, spec)
	c.validateReplicateFrom(v, spec.Child("replicateFrom"))
	c.validatePatches(v, spec.Child("patches"))
	return v.list
}

// Validate reports everything that is wrong with the object by itself. Whether
// the cluster exists, and has a user of the same name, others must see.
func (a *ValkeyACL) Validate() field.ErrorList {
	v := &violations{}
	spec := field.NewPath("spec")
	name := field.NewPath("metadata", "name")
	if a.Name == "" {
		v.required(name, "name of the ValkeyACL")
	}
	v.subdomain(name, a.Name)
	v.metadata(&a.ObjectMeta)
	v.clusterName(spec.Child("clusterRef", "name"), a.Spec.ClusterRef.Name)
	if len(a.Spec.Users) == 0 {
		v.required(spec.Child("users"), "at least one user")
	}
	validateUsers(v, spec.Child("users"), a.Spec.Users, a.Spec.ClusterRef.Name)
	return v.list
}

// clusterName reports a name that a cluster cannot have.
func (v *violations) clusterName(path *field.Path, name string) {
	if name == "" {
		v.required(path, "name of a ValkeyCluster")
		return
	}
	if len(name) > MaxClusterName {
		v.list = append(v.list, field.TooLong(path, name, MaxClusterName))
	}
	if why := validation.IsDNS1035Label(name); len(why) > 0 && len(name) <= validation.DNS1035LabelMaxLength {
		v.invalid(path, name, "must be lower-case letters, digits and '-', begin with a letter and end with a letter or digit")
	}
	if ending := reservedEnding(name); ending != "" {
		v.invalid(path, name, "must not end in %q, as objects of the cluster %q do", ending, strings.TrimSuffix(name, ending))
	}
}

// reservedEnding returns the ending of a cluster's name that names of another
// cluster's objects have too: "a-0" is shard 0 of "a". Empty when there is none.
func reservedEnding(name string) string {
	for _, ending := range []string{"-nodes", "-primary", "-replicas", "-sentinel", "-live", "-scripts", "-bus"} {
		if strings.HasSuffix(name, ending) {
			return ending
		}
	}
	if base := strings.TrimRight(name, "0123456789"); base != name && strings.HasSuffix(base, "-") {
		return name[len(base)-1:]
	}
	return ""
}
