// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package load

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Position returns line and column, from 1, of the key at path in the source,
// or of the nearest parent that was given; 0, 0 when there are no positions. A
// path is what field.Path prints: spec.users[0].name, spec.config[maxmemory],
// metadata.labels[example.com/team]. Of a list's entries, a name stands for
// the one that has it.
func (o Origin) Position(path string) (line, column int) {
	if o.node == nil {
		return 0, 0
	}
	at, value := o.node, o.node
	for _, s := range segments(path) {
		key, next := s.find(value)
		if next == nil {
			break
		}
		at, value = key, next
	}
	return at.Line + o.offset, at.Column
}

func (o Origin) line() int {
	if o.node == nil {
		return 0
	}
	return o.node.Line + o.offset
}

// segment is one step of a path.
type segment struct {
	name string
	// bracket says that the name was in brackets: an index or a key.
	bracket bool
}

// segments splits a path. A bracket ends at the first `]` that a dot, another
// bracket or the end follows, since keys may hold brackets too.
func segments(path string) []segment {
	var out []segment
	for len(path) > 0 {
		if path[0] == '.' {
			path = path[1:]
			continue
		}
		if path[0] == '[' {
			end := 1
			for end < len(path) && (path[end] != ']' || (end+1 < len(path) && path[end+1] != '.' && path[end+1] != '[')) {
				end++
			}
			out = append(out, segment{name: path[1:end], bracket: true})
			path = path[min(end+1, len(path)):]
			continue
		}
		end := strings.IndexAny(path, ".[")
		if end < 0 {
			end = len(path)
		}
		out = append(out, segment{name: path[:end]})
		path = path[end:]
	}
	return out
}

// find takes the step from a node: what to point at, and the value.
func (s segment) find(n *yaml.Node) (at, value *yaml.Node) {
	n = resolved(n)
	switch n.Kind {
	case yaml.MappingNode:
		all := pairs(n)
		for _, p := range all {
			if p.key.Value == s.name {
				return p.key, p.value
			}
		}
		for _, p := range all {
			if s.bracket && strings.EqualFold(p.key.Value, s.name) {
				return p.key, p.value
			}
		}
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(s.name); err == nil && i >= 0 && i < len(n.Content) {
			return n.Content[i], n.Content[i]
		}
		for _, item := range n.Content {
			if resolved(item).Kind != yaml.MappingNode {
				continue
			}
			if _, name := get(item, "name"); name != nil && resolved(name).Value == s.name {
				return item, item
			}
		}
	}
	return nil, nil
}
