// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package write

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// emitter writes block YAML. The libraries' own emitters fall back to one long
// quoted line when a text has a tab or ends a line in a space, and are several
// times slower.
type emitter struct {
	out []byte
}

// object writes one object as a document.
func (e *emitter) object(obj *unstructured.Unstructured) error {
	if len(obj.Object) == 0 {
		return fmt.Errorf("object: has no content")
	}
	content := obj.Object
	if _, has := content["status"]; has {
		content = make(map[string]any, len(obj.Object))
		for key, value := range obj.Object {
			if key != "status" {
				content[key] = value
			}
		}
	}
	if err := e.mapping(content, 0, false, "metadata" /* none is above */); err != nil {
		return fmt.Errorf("%s: %w", describe(obj), err)
	}
	return nil
}

// mapping writes a mapping that is not empty at an indentation. inline says that
// the first key goes on the line begun already. name is the mapping's own key.
func (e *emitter) mapping(m map[string]any, indent int, inline bool, name string) error {
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if key == "creationTimestamp" && m[key] == nil && name == "metadata" {
			continue
		}
		if !inline {
			e.indent(indent)
		}
		inline = false
		e.scalar(key)
		e.out = append(e.out, ':')
		if err := e.value(m[key], indent, key); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	return nil
}

// value writes what follows a key, with the end of the line.
func (e *emitter) value(v any, indent int, key string) error {
	switch v := v.(type) {
	case map[string]any:
		if visible(v, key) == 0 {
			e.out = append(e.out, " {}\n"...)
			return nil
		}
		e.out = append(e.out, '\n')
		return e.mapping(v, indent+2, false, key)
	case []any:
		if len(v) == 0 {
			e.out = append(e.out, " []\n"...)
			return nil
		}
		e.out = append(e.out, '\n')
		return e.list(v, indent, false)
	default:
		e.out = append(e.out, ' ')
		return e.leaf(v, indent)
	}
}

// visible counts the entries of a mapping that are written.
func visible(m map[string]any, name string) int {
	n := len(m)
	if value, has := m["creationTimestamp"]; has && value == nil && name == "metadata" {
		n--
	}
	return n
}

// list writes a list that is not empty, its dashes at an indentation.
func (e *emitter) list(l []any, indent int, inline bool) error {
	for i, item := range l {
		if !inline {
			e.indent(indent)
		}
		inline = false
		e.out = append(e.out, "- "...)
		var err error
		switch v := item.(type) {
		case map[string]any:
			if len(v) == 0 {
				e.out = append(e.out, "{}\n"...)
			} else {
				err = e.mapping(v, indent+2, true, "")
			}
		case []any:
			if len(v) == 0 {
				e.out = append(e.out, "[]\n"...)
			} else {
				err = e.list(v, indent+2, true)
			}
		default:
			err = e.leaf(v, indent)
		}
		if err != nil {
			return fmt.Errorf("[%d]: %w", i, err)
		}
	}
	return nil
}

// leaf writes a scalar and ends the line.
func (e *emitter) leaf(v any, indent int) error {
	switch v := v.(type) {
	case nil:
		e.out = append(e.out, "null"...)
	case string:
		if literal(v) {
			e.block(v, indent+2)
			return nil
		}
		e.scalar(v)
	case bool:
		e.out = strconv.AppendBool(e.out, v)
	case int64:
		e.out = strconv.AppendInt(e.out, v, 10)
	case int:
		e.out = strconv.AppendInt(e.out, int64(v), 10)
	case int32:
		e.out = strconv.AppendInt(e.out, int64(v), 10)
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("%v is no number in JSON", v)
		}
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			e.out = strconv.AppendInt(e.out, int64(v), 10)
		} else {
			e.out = strconv.AppendFloat(e.out, v, 'g', -1, 64)
		}
	default:
		return fmt.Errorf("value of type %T is not one of JSON", v)
	}
	e.out = append(e.out, '\n')
	return nil
}

func (e *emitter) indent(n int) {
	for range n {
		e.out = append(e.out, ' ')
	}
}

// block writes a literal block. The indentation is given in figures where a
// reader could not tell it from the first line.
func (e *emitter) block(s string, indent int) {
	e.out = append(e.out, '|')
	if strings.HasPrefix(s, " ") || strings.HasPrefix(s, "\n") || strings.HasPrefix(s, "\t") {
		e.out = append(e.out, '2')
	}
	body := strings.TrimRight(s, "\n")
	switch len(s) - len(body) {
	case 0:
		e.out = append(e.out, '-')
	case 1:
	default:
		e.out = append(e.out, '+')
	}
	e.out = append(e.out, '\n')
	for line := range strings.SplitSeq(body, "\n") {
		if line != "" {
			e.indent(indent)
			e.out = append(e.out, line...)
		}
		e.out = append(e.out, '\n')
	}
	for range len(s) - len(body) - 1 {
		e.out = append(e.out, '\n')
	}
}

// literal says whether a text is written as a block: it has several lines, and
// nothing that a block cannot hold or that readers disagree about.
func literal(s string) bool {
	end := strings.IndexByte(s, '\n')
	if end < 0 {
		return false
	}
	for _, r := range s {
		if r != '\n' && r != '\t' && !printable(r) {
			return false
		}
	}
	last := s[strings.LastIndexByte(s, '\n')+1:]
	return strings.Trim(s, " \t\n") != "" && (last == "" || strings.Trim(last, " \t") != "") && validUTF8(s)
}

// readable undoes what encoding/json escapes for the sake of HTML.
var readable = strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&")

// scalar writes a text on one line: plain if it is text to everyone, else in
// double quotes.
func (e *emitter) scalar(s string) {
	if plain(s) {
		e.out = append(e.out, s...)
		return
	}
	// Encoding a string cannot fail.
	quoted, _ := json.Marshal(s)
	text := readable.Replace(string(quoted))
	for _, r := range text {
		if printable(r) {
			e.out = append(e.out, string(r)...)
		} else {
			e.out = append(e.out, fmt.Sprintf(`\u%04x`, r)...)
		}
	}
}
