// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package load

import (
	"fmt"
	"strings"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/internal/nearest"
	"github.com/valkey-render/valkey-render/render/finding"
	"github.com/valkey-render/valkey-render/render/name"
)

// id is what makes an object one.
type id struct {
	kind, namespace, name string
}

func (i id) String() string {
	return name.Subject(i.kind, i.namespace, i.name)
}

// Conflicts returns what one object of the set cannot know of another: objects and
// users given twice, names that collide, ACLs without their cluster. Parse and
// render.Build report it; it is for sets that were not read by Parse.
func (s Set) Conflicts() finding.List { return across(s) }

// across checks what one object cannot know: the set is sorted, so that the
// place reported does not depend on the order of the sources.
func across(set Set) finding.List {
	var out finding.List
	out = append(out, sameObjects(set)...)
	out = append(out, collisions(set.Clusters)...)
	out = append(out, unknownClusters(set)...)
	return append(out, sameUsers(set)...)
}

func sameObjects(set Set) finding.List {
	var out finding.List
	first := map[id]Origin{}
	see := func(i id, o Origin) {
		if i.name == "" {
			return
		}
		if other, twice := first[i]; twice {
			out = append(out, o.Finding().Newf(finding.SameObject, "metadata.name",
				"%s is given twice; it is also at %s", i, other.String()))
			return
		}
		first[i] = o
	}
	for _, c := range set.Clusters {
		see(id{v1alpha1.KindCluster, c.Object.Namespace, c.Object.Name}, c.Origin)
	}
	for _, a := range set.ACLs {
		see(id{v1alpha1.KindACL, a.Object.Namespace, a.Object.Name}, a.Origin)
	}
	return out
}

// String is the place for a message: file and line.
func (o Origin) String() string {
	line, _ := o.Position("metadata.name")
	if line == 0 {
		return o.File
	}
	return fmt.Sprintf("%s:%d", o.File, line)
}

// collisions finds clusters of one namespace of which one has the name of an
// object of the other.
func collisions(clusters []Cluster) finding.List {
	refs := make([]name.Ref, len(clusters))
	for i, c := range clusters {
		refs[i] = name.Ref{Namespace: c.Object.Namespace, Name: c.Object.Name}
	}
	var out finding.List
	for _, c := range name.Collisions(refs) {
		if refs[c.First] == refs[c.Second] {
			continue // sameObjects has said so
		}
		out = append(out, clusters[c.Second].Origin.Finding().Newf(finding.NameCollision, "metadata.name",
			"%s; %s is at %s", c.Why, refs[c.First].Name, clusters[c.First].Origin))
	}
	return out
}

// unknownClusters warns of access lists without their cluster: it may be
// rendered elsewhere, so it is no error.
func unknownClusters(set Set) finding.List {
	var out finding.List
	names := map[string][]string{}
	for _, c := range set.Clusters {
		names[c.Object.Namespace] = append(names[c.Object.Namespace], c.Object.Name)
	}
	for _, a := range set.ACLs {
		ref := a.Object.Spec.ClusterRef.Name
		found := ref == ""
		for _, known := range names[a.Object.Namespace] {
			found = found || known == ref
		}
		if found {
			continue
		}
		message := fmt.Sprintf("no ValkeyCluster %q in this run", ref)
		if a.Object.Namespace != "" {
			message = fmt.Sprintf("no ValkeyCluster %q of namespace %q in this run", ref, a.Object.Namespace)
		}
		if near := nearest.Word(ref, names[a.Object.Namespace]); near != "" {
			message += fmt.Sprintf("; did you mean %q?", near)
		}
		out = append(out, a.Origin.Finding().New(finding.UnknownCluster, "spec.clusterRef.name", message))
	}
	return out
}

// sameUsers finds ACL users that two objects define for one cluster. Within
// one object it is for validation to say.
func sameUsers(set Set) finding.List {
	var out finding.List
	first := map[id]map[string]string{}
	objects := map[id]bool{}
	see := func(object, cluster id, o Origin, users []v1alpha1.UserSpec) {
		if objects[object] {
			return // sameObjects has said so
		}
		objects[object] = true
		known := first[cluster]
		if known == nil {
			known = map[string]string{}
			first[cluster] = known
		}
		mine := map[string]string{}
		for i, user := range users {
			path := fmt.Sprintf("spec.users[%d].name", i)
			if v1alpha1.HoldsPassword(path, user.Name) {
				continue // its name is refused
			}
			if other, twice := known[user.Name]; twice && user.Name != "" {
				out = append(out, o.Finding().Newf(finding.SameUser, path,
					"user %q of ValkeyCluster %q is also %s", user.Name, cluster.name, other))
				continue
			}
			line, _ := o.Position(path)
			where := strings.TrimSuffix(fmt.Sprintf("%s of %s at %s:%d", path, o.Object, o.File, line), ":0")
			mine[user.Name] = where
		}
		for user, where := range mine {
			known[user] = where
		}
	}
	for _, c := range set.Clusters {
		cluster := id{v1alpha1.KindCluster, c.Object.Namespace, c.Object.Name}
		see(cluster, cluster, c.Origin, c.Object.Spec.Users)
	}
	for _, a := range set.ACLs {
		see(id{v1alpha1.KindACL, a.Object.Namespace, a.Object.Name},
			id{v1alpha1.KindCluster, a.Object.Namespace, a.Object.Spec.ClusterRef.Name}, a.Origin, a.Object.Spec.Users)
	}
	return out
}
