// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package write

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/load"
	"github.com/valkey-render/valkey-render/render/name"
)

// ResourceList is the input of a KRM function (config.kubernetes.io/v1): items,
// and a functionConfig that may be a spec itself.
type ResourceList struct {
	apiVersion     string
	functionConfig *yaml.Node
	items          []*item
}

// item is one object of the list.
type item struct {
	node *yaml.Node
	id   id
	// path and index say in which file the orchestrator keeps it.
	path, index string
	// kept are the annotations of the orchestrator.
	kept map[string]string
	// rendered says that an earlier run of ours made it, for the cluster named.
	rendered bool
	cluster  string
	spec     bool
}

// id is what makes an object one.
type id struct {
	apiVersion, kind, namespace, name string
}

// ReadResourceList reads a ResourceList. Anchors and aliases are refused: items
// are moved one by one.
func ReadResourceList(in []byte) (*ResourceList, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(in, &doc); err != nil {
		return nil, fmt.Errorf("ResourceList: %w", err)
	}
	if len(doc.Content) == 0 {
		return nil, errors.New("ResourceList: is empty")
	}
	root := doc.Content[0]
	version, kind := text(root, "apiVersion"), text(root, "kind")
	if kind != "ResourceList" || !strings.HasPrefix(version, "config.kubernetes.io/") {
		return nil, fmt.Errorf("ResourceList: apiVersion %q and kind %q are not those of a config.kubernetes.io/v1 ResourceList", version, kind)
	}
	if aliased(root) {
		return nil, errors.New("ResourceList: anchors and aliases are not supported")
	}
	list := &ResourceList{apiVersion: version, functionConfig: value(root, "functionConfig")}
	items := value(root, "items")
	if items == nil || items.Kind == yaml.ScalarNode && items.Tag == "!!null" {
		return list, nil
	}
	if items.Kind != yaml.SequenceNode {
		return nil, errors.New("ResourceList: items is not a list")
	}
	for i, node := range items.Content {
		if node.Kind != yaml.MappingNode {
			return nil, fmt.Errorf("ResourceList: items[%d] is not an object", i)
		}
		list.items = append(list.items, newItem(node))
	}
	return list, nil
}

func newItem(node *yaml.Node) *item {
	meta := value(node, "metadata")
	it := &item{node: node, kept: map[string]string{}, id: id{
		apiVersion: text(node, "apiVersion"), kind: text(node, "kind"),
		namespace: text(meta, "namespace"), name: text(meta, "name"),
	}}
	it.spec = isSpec(it.id)
	it.cluster = text(value(meta, "labels"), name.LabelCluster)
	if annotations := value(meta, "annotations"); annotations != nil && annotations.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(annotations.Content); i += 2 {
			key, v := annotations.Content[i].Value, annotations.Content[i+1].Value
			switch {
			case key == v1alpha1.AnnotationRenderHash:
				it.rendered = true
			case orchestrators(key):
				it.kept[key] = v
			}
		}
	}
	for _, prefix := range []string{"", "internal."} {
		it.path = cmp.Or(it.path, it.kept[prefix+pathAnnotation])
		it.index = cmp.Or(it.index, it.kept[prefix+indexAnnotation])
	}
	return it
}

const (
	pathAnnotation  = "config.kubernetes.io/path"
	indexAnnotation = "config.kubernetes.io/index"
)

// orchestrators says whether an annotation is between an orchestrator and its
// functions, and no part of the object.
func orchestrators(key string) bool {
	switch key {
	case pathAnnotation, indexAnnotation, "config.k8s.io/id":
		return true
	}
	return strings.HasPrefix(key, "internal.config.kubernetes.io/")
}

func isSpec(i id) bool {
	group, _, _ := strings.Cut(i.apiVersion, "/")
	return group == v1alpha1.Group && i.kind != v1alpha1.KindNode
}

// Sources returns the specs of the list, one derived source each: functionConfig
// when it is one, and the items that are. What an earlier run rendered from
// functionConfig is no spec.
func (l *ResourceList) Sources() []load.Source {
	var out []load.Source
	config := id{}
	if l.functionConfig != nil && l.functionConfig.Kind == yaml.MappingNode {
		if it := newItem(l.functionConfig); it.spec {
			config = it.id
			out = append(out, load.Source{Name: "functionConfig", Data: bare(it.node), Derived: true})
		}
	}
	for i, it := range l.items {
		if !it.spec || it.rendered && it.id == config {
			continue
		}
		called := cmp.Or(it.path, "items["+strconv.Itoa(i)+"]")
		out = append(out, load.Source{Name: called, Data: bare(it.node), Derived: true})
	}
	return out
}

// bare is an object without the annotations of the orchestrator.
func bare(node *yaml.Node) []byte {
	object := *node
	object.Content = append([]*yaml.Node(nil), node.Content...)
	for i := 0; i+1 < len(object.Content); i += 2 {
		if object.Content[i].Value != "metadata" || object.Content[i+1].Kind != yaml.MappingNode {
			continue
		}
		meta := *object.Content[i+1]
		meta.Content = append([]*yaml.Node(nil), meta.Content...)
		object.Content[i+1] = &meta
		for j := 0; j+1 < len(meta.Content); j += 2 {
			if meta.Content[j].Value != "annotations" || meta.Content[j+1].Kind != yaml.MappingNode {
				continue
			}
			annotations := *meta.Content[j+1]
			var content []*yaml.Node
			for k := 0; k+1 < len(annotations.Content); k += 2 {
				if !orchestrators(annotations.Content[k].Value) {
					content = append(content, annotations.Content[k], annotations.Content[k+1])
				}
			}
			annotations.Content = content
			meta.Content[j+1] = &annotations
		}
	}
	return encoded(&object)
}

// encoded is a node as text; what was parsed can be written.
func encoded(node *yaml.Node) []byte {
	var b bytes.Buffer
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	_ = encoder.Encode(node)
	return b.Bytes()
}

// value returns the value of a key; nil when there is none.
func value(n *yaml.Node, key string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

// text returns the scalar of a key; "" when there is none.
func text(n *yaml.Node, key string) string {
	if v := value(n, key); v != nil && v.Kind == yaml.ScalarNode && v.Tag != "!!null" {
		return v.Value
	}
	return ""
}

func aliased(n *yaml.Node) bool {
	if n.Kind == yaml.AliasNode || n.Anchor != "" {
		return true
	}
	for _, child := range n.Content {
		if aliased(child) {
			return true
		}
	}
	return false
}
