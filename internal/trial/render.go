// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render"
	"github.com/valkey-render/valkey-render/render/finding"
	"github.com/valkey-render/valkey-render/render/load"
)

// namespace is that of a cluster that names none.
const namespace = "default"

// Override says what is tried instead of what the spec says.
type Override struct {
	// Version is the minor version of the servers, when not empty.
	Version string
	// Port is the servers' port, when not 0.
	Port int32
}

// Rendering is one cluster, and what it renders to.
type Rendering struct {
	// Cluster has its defaults.
	Cluster *v1alpha1.ValkeyCluster
	ACLs    []*v1alpha1.ValkeyACL
	Objects []*unstructured.Unstructured
	// Findings are errors, with which there are no objects, and warnings.
	Findings finding.List
}

// Render renders the one cluster of a set; the set stays as it is. No cluster, or
// several, are an error.
func Render(set load.Set, over Override) (Rendering, error) {
	if len(set.Clusters) != 1 {
		var names []string
		for _, c := range set.Clusters {
			names = append(names, c.Object.Name)
		}
		if len(names) == 0 {
			return Rendering{}, fmt.Errorf("the input holds no %s", v1alpha1.KindCluster)
		}
		return Rendering{}, fmt.Errorf("the input holds %d clusters (%s): try one at a time", len(names), strings.Join(names, ", "))
	}
	own := set
	own.Clusters = slices.Clone(set.Clusters)
	c := own.Clusters[0].Object.DeepCopy()
	own.Clusters[0].Object = c
	if c.Namespace == "" {
		c.Namespace = namespace
	}
	if over.Version != "" && over.Version != c.ServerVersion() {
		c.Spec.Version = over.Version
		// A tag of another version is an error, and the image is not used.
		c.Spec.Image = ""
	}
	if over.Port != 0 {
		if c.Spec.Networking == nil {
			c.Spec.Networking = &v1alpha1.NetworkingSpec{}
		}
		c.Spec.Networking.Port = &over.Port
	}
	own.ACLs = slices.Clone(set.ACLs)
	var acls []*v1alpha1.ValkeyACL
	for i := range own.ACLs {
		a := own.ACLs[i].Object.DeepCopy()
		if a.Namespace == "" {
			a.Namespace = namespace
		}
		own.ACLs[i].Object = a
		acls = append(acls, a)
	}
	result := render.Build(own, render.Options{})
	effective := c.DeepCopy()
	effective.Default()
	for _, a := range acls {
		a.Default()
	}
	return Rendering{Cluster: effective, ACLs: acls, Objects: result.Objects, Findings: result.Findings}, nil
}
