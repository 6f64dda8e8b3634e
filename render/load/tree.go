// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package load

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// parserLine is how the parser starts its errors; its line is that of the
// enclosing block at best, so it is not used.
var parserLine = regexp.MustCompile(`^yaml: (line \d+: )?`)

// parse reads one document. On failure it returns the line, from 1, where the
// parser gave up and what it said.
func parse(text []byte) (node *yaml.Node, line int, problem string) {
	var doc, more yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	err := decoder.Decode(&doc)
	if err == nil {
		if decoder.Decode(&more) == nil {
			return nil, more.Line, "a second document without a marker"
		}
		return doc.Content[0], 0, ""
	}
	problem = parserLine.ReplaceAllString(err.Error(), "")
	return nil, failingLine(text, problem), problem
}

// failingLine finds the first line whose presence makes the parser fail with
// the problem given: it stops at the first token it cannot take, so a longer
// text fails in the same way.
func failingLine(text []byte, problem string) int {
	ends := []int{0}
	for i, c := range text {
		if c == '\n' {
			ends = append(ends, i+1)
		}
	}
	if ends[len(ends)-1] != len(text) {
		ends = append(ends, len(text))
	}
	low, high := 0, len(ends)-1
	for low+1 < high {
		middle := (low + high) / 2
		var doc yaml.Node
		err := yaml.Unmarshal(text[:ends[middle]], &doc)
		if err != nil && parserLine.ReplaceAllString(err.Error(), "") == problem {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}

// explain adds to the parser's words what usually causes them.
func explain(problem string, text []byte, line int) string {
	var bad []byte
	for i, l := range bytes.Split(text, []byte("\n")) {
		if i == line-1 {
			bad = l
		}
	}
	template := bytes.Contains(text, []byte("{{"))
	hint := ""
	switch {
	case template && bytes.Contains(bad, []byte("{{")):
		hint = "this looks like a template: render it first"
	case strings.Contains(problem, "mapping values are not allowed"):
		hint = `check the indentation, and quote a value that holds ": "`
	case strings.Contains(problem, "did not find expected key"),
		strings.Contains(problem, "did not find expected '-' indicator"):
		hint = "check the indentation against the lines above"
	case strings.Contains(problem, "could not find expected ':'"):
		hint = "a key and its value are separated by a colon and a space"
	case strings.Contains(problem, "cannot start any token"):
		hint = "quote a value that starts with @, ` or %"
	case strings.Contains(problem, "unexpected end of stream"):
		hint = "a quote that is opened here is never closed"
	case strings.Contains(problem, "',' or ']'"), strings.Contains(problem, "',' or '}'"):
		hint = "a bracket that is opened here is never closed"
	case strings.Contains(problem, "unknown escape"):
		hint = `use single quotes, or write \\ for a backslash`
	case strings.Contains(problem, "unknown anchor"):
		hint = "quote a value that starts with *; an alias reaches only anchors above it in its own document"
	}
	if hint == "" {
		return problem
	}
	return problem + "; " + hint
}

// tabIndented says whether a line is indented with a tab.
func tabIndented(text []byte, line int) (column int, ok bool) {
	for i, l := range bytes.Split(text, []byte("\n")) {
		if i != line-1 {
			continue
		}
		indent := l[:len(l)-len(bytes.TrimLeft(l, " \t"))]
		if at := bytes.IndexByte(indent, '\t'); at >= 0 {
			return at + 1, true
		}
	}
	return 0, false
}

const (
	// maxDepth is deeper than anything in the schema.
	maxDepth = 64
	// maxExpansion is how many times its size a document may grow by aliases.
	maxExpansion = 10
)

// measure counts the nodes of a document as written and as expanded.
type measure struct {
	written, expanded int
	sizes             map[*yaml.Node]int
	open              map[*yaml.Node]bool
	// itself is an anchor that contains itself; deep is a node nested too deep.
	itself, deep *yaml.Node
}

func measured(root *yaml.Node) *measure {
	m := &measure{sizes: map[*yaml.Node]int{}, open: map[*yaml.Node]bool{}}
	m.expanded = m.size(root, 0)
	return m
}

// size of a node with its aliases expanded; it saturates far above any limit.
func (m *measure) size(n *yaml.Node, depth int) int {
	const saturated = 1 << 40
	m.written++
	if depth > maxDepth {
		m.deep = n
		return 1
	}
	if n.Kind == yaml.AliasNode {
		if m.open[n.Alias] {
			m.itself = n
			return 1
		}
		return m.sizes[n.Alias]
	}
	if n.Kind == yaml.ScalarNode && n.Anchor == "" {
		return 1
	}
	if n.Anchor != "" {
		m.open[n] = true
		defer delete(m.open, n)
	}
	total := 1
	for _, child := range n.Content {
		total = min(total+m.size(child, depth+1), saturated)
	}
	if n.Anchor != "" {
		m.sizes[n] = total
	}
	return total
}

// pair is one entry of a mapping.
type pair struct {
	key, value *yaml.Node
}

// pairs are the entries of a mapping, merge keys included: own entries first,
// then those merged, of which the first given counts. Keys given twice are
// left out; the walk over the document reports them.
func pairs(n *yaml.Node) []pair {
	n = resolved(n)
	out := make([]pair, 0, len(n.Content)/2)
	merged := false
	for i := 0; i+1 < len(n.Content); i += 2 {
		if isMerge(n.Content[i]) {
			merged = true
			continue
		}
		out = append(out, pair{n.Content[i], n.Content[i+1]})
	}
	if !merged && len(out) < 2 {
		return out
	}
	seen := make(map[string]bool, len(out))
	unique := out[:0]
	for _, p := range out {
		if !seen[p.key.Value] {
			seen[p.key.Value] = true
			unique = append(unique, p)
		}
	}
	for i := 0; merged && i+1 < len(n.Content); i += 2 {
		if !isMerge(n.Content[i]) {
			continue
		}
		from := []*yaml.Node{n.Content[i+1]}
		if list := resolved(from[0]); list.Kind == yaml.SequenceNode {
			from = list.Content
		}
		for _, source := range from {
			if resolved(source).Kind != yaml.MappingNode {
				continue
			}
			for _, p := range pairs(source) {
				if !seen[p.key.Value] {
					seen[p.key.Value] = true
					unique = append(unique, p)
				}
			}
		}
	}
	return unique
}

func isMerge(key *yaml.Node) bool {
	return key.Kind == yaml.ScalarNode && key.Value == "<<" && key.Tag == "!!merge"
}

// resolved follows an alias.
func resolved(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// get returns the value of a key of a mapping, and the key; nil when absent.
func get(n *yaml.Node, name string) (key, value *yaml.Node) {
	for _, p := range pairs(n) {
		if p.key.Value == name {
			return p.key, p.value
		}
	}
	return nil, nil
}

// describe names the kind of a node for a message.
func describe(n *yaml.Node) string {
	switch resolved(n).Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	default:
		if kindOf(resolved(n)) == isNull {
			return "nothing"
		}
		return fmt.Sprintf("%q", resolved(n).Value)
	}
}
