// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package load

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/finding"
)

// decoder fills a typed value from a mapping and reports all that does not fit.
type decoder struct {
	types fieldCache
	// root is the type of the object, and kind its name.
	root reflect.Type
	kind string
	// renamings are v1alpha1.Renamed().
	renamings map[string]v1alpha1.Renaming
	report    func(at *yaml.Node, code finding.Code, path, message string)
	// unread are the paths whose values stay zero.
	unread []string
}

// fail reports a value that cannot be read.
func (d *decoder) fail(at *yaml.Node, code finding.Code, path, message string) {
	d.report(at, code, path, message)
	d.unread = append(d.unread, strings.TrimPrefix(path, "."))
}

// secretPlace matches fields where people write a password that belong to a
// reference, and ACL rules.
var secretPlace = regexp.MustCompile(`^spec\.auth(\.|$)|^spec\.users(\[[0-9]+\](\.(keys|commands|channels|permissions|nopass|enabled)([.[].*)?)?)?$|` +
	`\.([a-z]+Secret|endpoint)([.[]|$)`)

// hidden says whether a value that does not fit may be a password.
func hidden(path, value string) bool {
	return finding.Secret(path) || secretPlace.MatchString(path) || v1alpha1.HoldsPassword(path, value)
}

// described is describe for what may be shown of a value.
func described(n *yaml.Node, path string) string {
	if n := resolved(n); n.Kind == yaml.ScalarNode && kindOf(n) != isNull && hidden(path, n.Value) {
		return "a single value (not shown)"
	}
	return describe(n)
}

// value decodes n into v. at is what findings point at: the key of the value,
// or the item of a list.
func (d *decoder) value(at, n *yaml.Node, v reflect.Value, path string) {
	n = resolved(n)
	if v.Kind() == reflect.Pointer {
		if n.Kind == yaml.ScalarNode && kindOf(n) == isNull {
			d.null(at, v.Type(), path)
			return
		}
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	if u, ok := v.Addr().Interface().(json.Unmarshaler); ok {
		d.special(at, n, v, u, path)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		if d.want(at, n, yaml.MappingNode, "a mapping", v.Type(), path) {
			d.structure(n, v, path)
		}
	case reflect.Map:
		if d.want(at, n, yaml.MappingNode, "a mapping", v.Type(), path) {
			d.mapping(n, v, path)
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			d.fail(at, finding.WrongType, path, "binary data is not supported here")
			return
		}
		if d.want(at, n, yaml.SequenceNode, "a list", v.Type(), path) {
			d.list(n, v, path)
		}
	default:
		if d.want(at, n, yaml.ScalarNode, scalarName(v.Type()), v.Type(), path) {
			d.scalar(at, n, v, path)
		}
	}
}

// want checks the kind of a node; a null is reported as such.
func (d *decoder) want(at, n *yaml.Node, kind yaml.Kind, name string, t reflect.Type, path string) bool {
	if n.Kind == yaml.ScalarNode && kindOf(n) == isNull {
		d.null(at, t, path)
		return false
	}
	if n.Kind == kind {
		return true
	}
	message := fmt.Sprintf("must be %s, not %s", name, described(n, path))
	if advice := d.renamed(path); advice != "" {
		message += "; " + advice
	} else if kind == yaml.SequenceNode {
		message += "; write each entry after a dash"
	}
	d.fail(at, finding.WrongType, path, message)
	return false
}

func (d *decoder) null(at *yaml.Node, t reflect.Type, path string) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t.Kind() == reflect.Struct && !special(t):
		d.fail(at, finding.Null, path, "has no value; write {} for the defaults of the block, or remove the line")
	case t.Kind() == reflect.String:
		d.fail(at, finding.Null, path, `has no value; give one (in quotes if it is the word null), or remove the line`)
	default:
		d.fail(at, finding.Null, path, "has no value; give one, or remove the line")
	}
}

// structure decodes a mapping into a struct.
func (d *decoder) structure(n *yaml.Node, v reflect.Value, path string) {
	fields := d.types.of(v.Type())
	for _, p := range pairs(n) {
		name := p.key.Value
		index, known := fields.index[name]
		if !known {
			d.unknown(p.key, v.Type(), path, name)
			continue
		}
		d.value(p.key, p.value, v.FieldByIndex(index), child(path, name))
	}
}

// mapping decodes a mapping into a map with keys of a string type.
func (d *decoder) mapping(n *yaml.Node, v reflect.Value, path string) {
	all := pairs(n)
	out := reflect.MakeMapWithSize(v.Type(), len(all))
	for _, p := range all {
		at := path + "[" + p.key.Value + "]"
		if kind := kindOf(p.key); kind == isBool || kind == isOldBool || kind == isNull {
			d.fail(p.key, finding.NeedsQuotes, at, fmt.Sprintf("the key %s is not text to every reader of YAML; write %s",
				p.key.Value, quote(p.key.Value)))
			continue
		}
		item := reflect.New(v.Type().Elem()).Elem()
		d.value(p.key, p.value, item, at)
		out.SetMapIndex(reflect.ValueOf(p.key.Value).Convert(v.Type().Key()), item)
	}
	v.Set(out)
}

// list decodes a sequence into a slice.
func (d *decoder) list(n *yaml.Node, v reflect.Value, path string) {
	out := reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content))
	for i, item := range n.Content {
		d.value(item, item, out.Index(i), fmt.Sprintf("%s[%d]", path, i))
	}
	v.Set(out)
}

// special decodes types that read their own JSON: quantities, durations, times,
// and numbers or names.
func (d *decoder) special(at, n *yaml.Node, v reflect.Value, u json.Unmarshaler, path string) {
	name := specialName(v.Type())
	if !d.want(at, n, yaml.ScalarNode, name, v.Type(), path) {
		return
	}
	kind := kindOf(n)
	if kind == isBool || kind == isOldBool {
		d.fail(at, finding.BadFormat, path, fmt.Sprintf("%s is a boolean; write %s", n.Value, name))
		return
	}
	// Text is always valid JSON once encoded.
	raw, _ := json.Marshal(n.Value)
	numeric := v.Type().Name() == "IntOrString" && kind == isNumber && integer.MatchString(n.Value)
	if numeric {
		raw = []byte(strings.TrimPrefix(n.Value, "+"))
	}
	if err := u.UnmarshalJSON(raw); err != nil {
		message := fmt.Sprintf("%s is not %s", quote(n.Value), name)
		if hidden(path, n.Value) {
			message = "must be " + name
		}
		if near := nearestFormat(v.Type().Name(), n.Value); near != "" {
			message += fmt.Sprintf("; did you mean %s?", quote(near))
		}
		d.fail(at, finding.BadFormat, path, message)
	}
}

// special says whether a type reads its own JSON.
func special(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) ||
		reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

func child(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
