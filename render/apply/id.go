// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"cmp"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/valkey-render/valkey-render/render/order"
)

// ID is what makes an object one. Two IDs that differ only in the version of the
// API name the same object.
type ID struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace"`
	Name       string `json:"name"`
}

// String is the object as messages name it: Kind/namespace/name.
func (i ID) String() string { return i.Kind + "/" + i.Namespace + "/" + i.Name }

func idOf(o *unstructured.Unstructured) ID {
	return ID{o.GetAPIVersion(), o.GetKind(), o.GetNamespace(), o.GetName()}
}

// object is an empty object of the ID, to read or delete with.
func (i ID) object() *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(i.APIVersion)
	o.SetKind(i.Kind)
	o.SetNamespace(i.Namespace)
	o.SetName(i.Name)
	return o
}

// key is the ID without the version of the API.
func (i ID) key() string {
	group, _, grouped := strings.Cut(i.APIVersion, "/")
	if !grouped {
		group = ""
	}
	return group + "/" + i.String()
}

// line is the ID in an inventory, whose namespace is the inventory's.
func (i ID) line() string { return i.APIVersion + " " + i.Kind + " " + i.Name }

func parseLine(namespace, line string) (ID, error) {
	words := strings.Split(line, " ")
	if len(words) != 3 || words[0] == "" || words[1] == "" || words[2] == "" {
		return ID{}, fmt.Errorf("%q is not 'apiVersion kind name'", line)
	}
	return ID{words[0], words[1], namespace, words[2]}, nil
}

// compare orders IDs as objects are applied.
func (i ID) compare(other ID) int {
	return cmp.Or(
		cmp.Compare(i.stage(), other.stage()),
		cmp.Compare(i.Namespace, other.Namespace),
		cmp.Compare(i.Kind, other.Kind),
		order.Natural(i.Name, other.Name),
		cmp.Compare(i.APIVersion, other.APIVersion),
	)
}

func (i ID) stage() order.Stage { return order.StageOf(i.object()) }
