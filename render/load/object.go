// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package load

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/internal/nearest"
	"github.com/valkey-render/valkey-render/render/finding"
)

const apiVersion = v1alpha1.Group + "/" + v1alpha1.Version

// maxListDepth is how deep lists of lists may be.
const maxListDepth = 3

// object finds out what a mapping is, and reads it if it is ours.
func (l *loader) object(d document, n *yaml.Node, depth int) {
	version, ok1 := l.typeField(d, n, "apiVersion")
	kind, ok2 := l.typeField(d, n, "kind")
	if !ok1 || !ok2 {
		return
	}
	group, _, _ := strings.Cut(version, "/")
	switch {
	case kind == "List" && version == "v1", strings.HasSuffix(kind, "List") && version == apiVersion && listOf(kind):
		l.items(d, n, depth)
	case version == apiVersion && kind == v1alpha1.KindCluster:
		cluster := Cluster{Object: &v1alpha1.ValkeyCluster{}, Origin: l.origin(d, n, kind)}
		cluster.Origin.unread = l.decode(d, cluster.Origin, n, kind, cluster.Object)
		l.named(cluster.Origin, n)
		l.namespace(cluster.Origin, &cluster.Object.Namespace)
		l.set.Clusters = append(l.set.Clusters, cluster)
	case version == apiVersion && kind == v1alpha1.KindACL:
		acl := ACL{Object: &v1alpha1.ValkeyACL{}, Origin: l.origin(d, n, kind)}
		acl.Origin.unread = l.decode(d, acl.Origin, n, kind, acl.Object)
		l.named(acl.Origin, n)
		l.namespace(acl.Origin, &acl.Object.Namespace)
		l.set.ACLs = append(l.set.ACLs, acl)
	case version == apiVersion && kind == v1alpha1.KindNode:
		l.foreign(d, n, "a ValkeyNode is made by the reconciler and is no input", kind, true)
	case group == v1alpha1.Group, ours(kind) && (l.opts.Foreign == ForeignError || nearest.Word(version, []string{apiVersion}) != ""):
		l.unknownKind(d, n, version, kind)
	default:
		l.other(d, n, version, kind)
	}
}

// other deals with an object of another group.
func (l *loader) other(d document, n *yaml.Node, version, kind string) {
	message := fmt.Sprintf("%s of %s is neither a ValkeyCluster nor a ValkeyACL", kind, version)
	if near := nearest.Word(kind, kinds()); near != "" {
		message += fmt.Sprintf("; did you mean kind %s of %s?", near, apiVersion)
	}
	if kind == "Kustomization" {
		message += "; build a kustomization with -k"
	}
	l.foreign(d, n, message, kind, false)
}

func kinds() []string { return []string{v1alpha1.KindCluster, v1alpha1.KindACL} }

func ours(kind string) bool {
	return kind == v1alpha1.KindCluster || kind == v1alpha1.KindACL || kind == v1alpha1.KindNode
}

func listOf(kind string) bool { return ours(strings.TrimSuffix(kind, "List")) }

// typeField reads apiVersion or kind. Neither is guessed: a document without
// them may be anything.
func (l *loader) typeField(d document, n *yaml.Node, name string) (string, bool) {
	example := map[string]string{"apiVersion": apiVersion, "kind": v1alpha1.KindCluster}[name]
	key, value := get(n, name)
	o := l.origin(d, n, "")
	if value == nil {
		message := fmt.Sprintf("is missing; for example %s: %s", name, example)
		for _, p := range pairs(n) {
			if near := nearest.Word(p.key.Value, []string{name}); near != "" {
				message = fmt.Sprintf("is missing; did you mean it by %q?", p.key.Value)
				break
			}
		}
		l.add(o.Finding().New(finding.Required, name, message))
		return "", false
	}
	if text := resolved(value); text.Kind != yaml.ScalarNode || kindOf(text) != isText || text.Value == "" {
		f := o.Finding().Newf(finding.WrongType, name, "must be text such as %s, not %s", example, describe(value))
		if !d.source.Derived {
			f.Line, f.Column = key.Line+d.chunk.offset, key.Column
		}
		l.add(f)
		return "", false
	}
	return resolved(value).Value, true
}

// origin of an object, named as far as its name can be read.
func (l *loader) origin(d document, n *yaml.Node, kind string) Origin {
	o := Origin{File: d.source.Name, Document: d.number()}
	if !d.source.Derived {
		o.node, o.offset = n, d.chunk.offset
	}
	if kind == "" {
		return o
	}
	o.Object = kind
	_, meta := get(n, "metadata")
	if meta == nil || resolved(meta).Kind != yaml.MappingNode {
		return o
	}
	namespace := l.opts.Namespace
	if _, value := get(meta, "namespace"); value != nil && resolved(value).Kind == yaml.ScalarNode && !l.opts.OverrideNamespace {
		namespace = resolved(value).Value
	}
	if _, value := get(meta, "name"); value != nil && resolved(value).Kind == yaml.ScalarNode {
		if namespace != "" {
			o.Object += "/" + namespace
		}
		o.Object += "/" + resolved(value).Value
	}
	return o
}

// named checks that an object has a name; one of the wrong type is reported
// where it is decoded.
func (l *loader) named(o Origin, n *yaml.Node) {
	_, meta := get(n, "metadata")
	if meta != nil {
		if resolved(meta).Kind != yaml.MappingNode {
			return
		}
		if _, generated := get(meta, "generateName"); generated != nil {
			return
		}
		if _, value := get(meta, "name"); value != nil && (resolved(value).Value != "" || kindOf(resolved(value)) != isText) {
			return
		}
	}
	l.add(o.Finding().New(finding.NameMissing, "metadata.name", "is missing; every name in the output is made from it"))
}

// namespace applies the option.
func (l *loader) namespace(o Origin, namespace *string) {
	if l.opts.Namespace == "" {
		return
	}
	if *namespace != "" && *namespace != l.opts.Namespace && !l.opts.OverrideNamespace {
		l.add(o.Finding().Newf(finding.NamespaceConflict, "metadata.namespace",
			"is %q, and %q was asked for", *namespace, l.opts.Namespace))
		return
	}
	*namespace = l.opts.Namespace
}

// items reads the objects of a list.
func (l *loader) items(d document, n *yaml.Node, depth int) {
	o := l.origin(d, n, "").Finding()
	_, items := get(n, "items")
	switch {
	case depth >= maxListDepth:
		l.add(o.New(finding.TooDeep, "items", "lists are nested too deep"))
	case items == nil:
		l.add(o.New(finding.Required, "items", "is missing; a list has its objects there"))
	case resolved(items).Kind != yaml.SequenceNode:
		if resolved(items).Kind == yaml.ScalarNode && kindOf(resolved(items)) == isNull {
			return
		}
		l.add(o.New(finding.WrongType, "items", "must be a list, not "+describe(items)))
	default:
		for i, item := range resolved(items).Content {
			if resolved(item).Kind != yaml.MappingNode {
				l.add(o.New(finding.NotAnObject, fmt.Sprintf("items[%d]", i), "must be an object, not "+describe(item)))
				continue
			}
			l.object(d, resolved(item), depth+1)
		}
	}
}

// unknownKind reports what claims to be ours and is not.
func (l *loader) unknownKind(d document, n *yaml.Node, version, kind string) {
	o := l.origin(d, n, kind).Finding()
	if !strings.HasPrefix(version, v1alpha1.Group+"/") || version != apiVersion && ours(kind) {
		message := fmt.Sprintf("%q has no %s that can be rendered; did you mean %q?", version, kind, apiVersion)
		l.add(o.New(finding.UnknownKind, "apiVersion", message))
		return
	}
	message := fmt.Sprintf("%s has no kind %q; it has %s", version, kind, strings.Join(kinds(), " and "))
	if near := nearest.Word(kind, kinds()); near != "" {
		message = fmt.Sprintf("%s has no kind %q; did you mean %q?", version, kind, near)
	}
	l.add(o.New(finding.UnknownKind, "kind", message))
}

// foreign reports or counts an object of another kind.
func (l *loader) foreign(d document, n *yaml.Node, message, kind string, always bool) {
	if l.opts.Foreign == ForeignIgnore && !always {
		l.ignored++
		return
	}
	l.add(l.origin(d, n, kind).Finding().New(finding.ForeignObject, "kind", message))
}

// serverFields are set by the API server; they come from copying an object out
// of a cluster.
func serverFields() []string {
	return []string{
		"creationTimestamp", "deletionGracePeriodSeconds", "deletionTimestamp", "generation", "managedFields",
		"resourceVersion", "selfLink", "uid",
	}
}

// lastApplied is where kubectl keeps a copy of the whole object.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// metadata decodes metadata without what the API server owns.
func (d *decoder) metadata(p pair, v reflect.Value) {
	if !d.want(p.key, resolved(p.value), yaml.MappingNode, "a mapping", v.Type(), "metadata") {
		return
	}
	kept := &yaml.Node{Kind: yaml.MappingNode, Line: p.value.Line, Column: p.value.Column}
	for _, entry := range pairs(p.value) {
		field := entry.key.Value
		switch {
		case slices.Contains(serverFields(), field):
			null := resolved(entry.value).Kind == yaml.ScalarNode && kindOf(resolved(entry.value)) == isNull
			if !null {
				d.report(entry.key, finding.ServerFieldIgnored, "metadata."+field, "is set by the API server and ignored here; remove it")
			}
		case field == "finalizers" || field == "ownerReferences":
			d.report(entry.key, finding.ServerFieldIgnored, "metadata."+field, "is for controllers and ignored here; remove it")
		case field == "generateName":
			d.report(entry.key, finding.GenerateName, "metadata.generateName", "is not supported: give metadata.name")
		default:
			kept.Content = append(kept.Content, entry.key, entry.value)
		}
	}
	d.structure(kept, v, "metadata")
	annotations := v.FieldByName("Annotations").Interface().(map[string]string)
	// Output read again: the hash is of what was rendered then.
	for _, key := range v1alpha1.HashAnnotations() {
		delete(annotations, key)
	}
	if _, ok := annotations[lastApplied]; ok {
		delete(annotations, lastApplied)
		key, _ := segment{name: "annotations"}.find(kept)
		d.report(key, finding.ServerFieldIgnored, "metadata.annotations["+lastApplied+"]", "is set by kubectl and ignored here; remove it")
	}
}
