// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package load

import (
	"cmp"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/finding"
)

// MaxBytes is the most that one source may have.
const MaxBytes = 1 << 20

// Source is one file, or what stands for one.
type Source struct {
	// Name is what findings call it: a path as the user gave it, or `-`.
	Name string
	// Data is YAML, of any number of documents.
	Data []byte
	// Derived says that Data was made from something else (a kustomization, a
	// KRM resource list), so that its lines and documents mean nothing to anyone.
	Derived bool
}

// Foreign says what to do about objects that are neither ValkeyCluster nor
// ValkeyACL.
type Foreign int

const (
	// ForeignError names each as an error.
	ForeignError Foreign = iota
	// ForeignIgnore leaves them out, with one warning per source that counts
	// them. What looks like a misspelt kind of ours is still an error.
	ForeignIgnore
)

// Options of Parse. The zero value is what `valkey-render build -f` uses.
type Options struct {
	// Namespace is given to objects without one. An object of another namespace
	// is an error, unless OverrideNamespace.
	Namespace string
	// OverrideNamespace gives Namespace to every object.
	OverrideNamespace bool
	// Foreign says what to do about other kinds.
	Foreign Foreign
	// AllowEmpty makes it no error to find no object at all.
	AllowEmpty bool
}

// Set is what was found, sorted by namespace, name, file and document, so that
// the order of the sources does not matter.
type Set struct {
	// Clusters, defaults not yet applied.
	Clusters []Cluster
	// ACLs, defaults not yet applied.
	ACLs []ACL
	// Ignored counts the objects left out with ForeignIgnore.
	Ignored int
	// unread are the errors that Parse has found.
	unread finding.List
}

// Unread are the errors of reading the set. While there are any the set is not
// complete, and render.Build renders nothing of it.
func (s Set) Unread() finding.List { return slices.Clone(s.unread) }

// Cluster is a ValkeyCluster and where it was read.
type Cluster struct {
	Object *v1alpha1.ValkeyCluster
	Origin Origin
}

// ACL is a ValkeyACL and where it was read.
type ACL struct {
	Object *v1alpha1.ValkeyACL
	Origin Origin
}

// Origin is where an object was read.
type Origin struct {
	// File is the name of the source.
	File string
	// Document counts the documents of the source from 1; 0 for a derived source.
	Document int
	// Object is Kind/namespace/name, or Kind/name without a namespace.
	Object string

	// node is the object's mapping; offset is added to its lines. Both are unset
	// for a derived source.
	node   *yaml.Node
	offset int
	// unread are the paths whose values could not be read.
	unread []string
}

// Finding returns the origin in the form that finding.FromFieldErrors takes.
func (o Origin) Finding() finding.Origin {
	return finding.Origin{File: o.File, Document: o.Document, Object: o.Object, Position: o.Position, Unread: o.unread}
}

// Parse reads every source. The list is sorted; when it has errors, the Set is
// as complete as could be read and fit for validation, not for rendering.
func Parse(sources []Source, opts Options) (Set, finding.List) {
	l := &loader{opts: opts, types: fieldCache{}, renamings: v1alpha1.Renamed()}
	for _, source := range sources {
		l.source(source)
	}
	l.set.sort()
	l.findings = append(l.findings, across(l.set)...)
	if len(l.set.Clusters)+len(l.set.ACLs) == 0 && !opts.AllowEmpty && !l.findings.HasErrors() {
		f := finding.New(finding.NothingFound, "no ValkeyCluster or ValkeyACL in what was given")
		if len(sources) == 1 {
			f.File = sources[0].Name
		}
		l.findings = append(l.findings, f)
	}
	l.set.unread = l.findings.Errors()
	return l.set, l.findings.Sorted()
}

func (s *Set) sort() {
	byOrigin := func(a, b Origin) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Document, b.Document), cmp.Compare(a.line(), b.line()))
	}
	slices.SortStableFunc(s.Clusters, func(a, b Cluster) int {
		return cmp.Or(cmp.Compare(a.Object.Namespace, b.Object.Namespace),
			cmp.Compare(a.Object.Name, b.Object.Name), byOrigin(a.Origin, b.Origin))
	})
	slices.SortStableFunc(s.ACLs, func(a, b ACL) int {
		return cmp.Or(cmp.Compare(a.Object.Namespace, b.Object.Namespace),
			cmp.Compare(a.Object.Name, b.Object.Name), byOrigin(a.Origin, b.Origin))
	})
}
