// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package load

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/finding"
)

// loader gathers objects and findings over the sources of one run.
type loader struct {
	opts  Options
	types fieldCache
	// renamings are v1alpha1.Renamed(), made once for a run.
	renamings map[string]v1alpha1.Renaming
	set       Set
	findings  finding.List
	// ignored counts foreign objects of the current source.
	ignored int
}

// document is one YAML document of a source.
type document struct {
	source Source
	chunk  chunk
}

// number is the document's number as findings show it.
func (d document) number() int {
	if d.source.Derived {
		return 0
	}
	return d.chunk.number
}

// at returns a finding at a line of the document, from 1; 0 for none.
func (d document) at(code finding.Code, line, column int, message string) finding.Finding {
	f := finding.New(code, message)
	f.File, f.Document = d.source.Name, d.number()
	if line > 0 && !d.source.Derived {
		f.Line, f.Column = line+d.chunk.offset, column
	}
	return f
}

// add keeps a finding, with what it quotes of the input cut to a readable size.
func (l *loader) add(f finding.Finding) {
	f.Message, f.Path, f.Object = elide(f.Message, 400), elide(f.Path, 300), elide(f.Object, 300)
	l.findings = append(l.findings, f)
}

// elide cuts the middle out of a text that is longer than most letters: what
// was meant is said at the end.
func elide(s string, most int) string {
	if len(s) <= most {
		return s
	}
	letters := []rune(s)
	if len(letters) <= most {
		return s
	}
	return string(letters[:most/2]) + "…" + string(letters[len(letters)-most/2:])
}

func (l *loader) source(s Source) {
	whole := document{source: s}
	whole.source.Derived = true
	if len(s.Data) > MaxBytes {
		l.add(whole.at(finding.TooLarge, 0, 0, fmt.Sprintf("has %d bytes; %d are allowed", len(s.Data), MaxBytes)))
		return
	}
	if utf16(s.Data) {
		l.add(whole.at(finding.NotUTF8, 0, 0, "is UTF-16 or UTF-32; save it as UTF-8"))
		return
	}
	s.Data = bytes.TrimPrefix(s.Data, []byte("\ufeff"))
	l.ignored = 0
	for _, c := range split(s.Data) {
		l.document(document{source: s, chunk: c})
	}
	if l.ignored > 0 {
		l.set.Ignored += l.ignored
		if !s.Derived {
			l.add(whole.at(finding.ObjectIgnored, 0, 0, fmt.Sprintf("%d objects of other kinds are left out", l.ignored)))
		}
	}
}

func (l *loader) document(d document) {
	if at, problem, message := badText(d.chunk.text); problem != textFine {
		line, column := place(d.chunk.text, at)
		code := map[textProblem]finding.Code{
			textEncoding: finding.NotUTF8, textControl: finding.ControlCharacter, textMark: finding.ByteOrderMark,
		}[problem]
		l.add(d.at(code, line, column, message))
		return
	}
	root, line, problem := parse(d.chunk.text)
	if problem != "" {
		if column, ok := tabIndented(d.chunk.text, line); ok {
			l.add(d.at(finding.TabIndentation, line, column, "a tab is used for indentation; use spaces"))
			return
		}
		l.add(d.at(finding.Syntax, line, firstColumn(d.chunk.text, line), explain(problem, d.chunk.text, line)))
		return
	}
	if !l.structure(d, root) {
		return
	}
	if resolved(root).Kind != yaml.MappingNode {
		l.add(d.at(finding.NotAnObject, root.Line, root.Column,
			fmt.Sprintf("a document must be an object with apiVersion, kind and metadata, not %s", describe(root))))
		return
	}
	l.object(d, root, 0)
}

// structure checks what holds for YAML of any kind. It returns false when the
// document cannot be walked any further.
func (l *loader) structure(d document, root *yaml.Node) bool {
	m := measured(root)
	switch {
	case m.itself != nil:
		l.add(d.at(finding.UnsupportedYAML, m.itself.Line, m.itself.Column,
			fmt.Sprintf("the anchor %q contains itself", m.itself.Value)))
		return false
	case m.deep != nil:
		l.add(d.at(finding.TooDeep, m.deep.Line, m.deep.Column, fmt.Sprintf("nested deeper than %d levels", maxDepth)))
		return false
	case m.expanded > maxExpansion*m.written:
		l.add(d.at(finding.AliasExpansion, root.Line, root.Column,
			fmt.Sprintf("aliases make the document more than %d times its size", maxExpansion)))
		return false
	}
	before := len(l.findings)
	l.walk(d, root, "")
	for _, f := range l.findings[before:] {
		if f.Code == finding.UnsupportedYAML {
			return false
		}
	}
	return true
}

// walk reports keys given twice, keys that are not text and tags, anywhere.
func (l *loader) walk(d document, n *yaml.Node, path string) {
	if tag := n.Tag; n.Style&yaml.TaggedStyle != 0 && tag != "!!str" {
		f := d.at(finding.UnsupportedYAML, n.Line, n.Column, fmt.Sprintf("the tag %s is not supported; write a plain value", tag))
		f.Path = path
		l.add(f)
	}
	switch n.Kind {
	case yaml.SequenceNode:
		for i, item := range n.Content {
			l.walk(d, item, fmt.Sprintf("%s[%d]", path, i))
		}
	case yaml.MappingNode:
		first := make(map[string]*yaml.Node, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			l.entry(d, pair{n.Content[i], n.Content[i+1]}, first, path)
		}
	}
}

func (l *loader) entry(d document, p pair, first map[string]*yaml.Node, path string) {
	key := p.key
	if key.Kind != yaml.ScalarNode {
		message := "a key must be text, not " + describe(key)
		if bytes.Contains(d.chunk.text, []byte("{{")) {
			message += "; this looks like a template: render it first"
		}
		f := d.at(finding.UnsupportedYAML, key.Line, key.Column, message)
		f.Path = path
		l.add(f)
		return
	}
	at := child(path, key.Value)
	if isMerge(key) {
		at = path
		l.merge(d, p, path)
	}
	if other, twice := first[key.Value]; twice {
		message := "given twice"
		if !d.source.Derived {
			message = fmt.Sprintf("given twice; it is also in line %d", other.Line+d.chunk.offset)
		}
		f := d.at(finding.DuplicateKey, key.Line, key.Column, message)
		f.Path = at
		l.add(f)
	} else {
		first[key.Value] = key
	}
	l.walk(d, p.value, at)
}

// merge checks that a merge key has a mapping, or a list of mappings.
func (l *loader) merge(d document, p pair, path string) {
	sources := []*yaml.Node{p.value}
	if list := resolved(p.value); list.Kind == yaml.SequenceNode {
		sources = list.Content
	}
	for _, source := range sources {
		if resolved(source).Kind == yaml.MappingNode {
			continue
		}
		f := d.at(finding.UnsupportedYAML, source.Line, source.Column, "<< merges a mapping, not "+describe(source))
		f.Path = path
		l.add(f)
	}
}

// decode fills an object of a type of ours from its mapping. It returns the paths
// of what could not be read.
func (l *loader) decode(d document, o Origin, n *yaml.Node, kind string, into any) []string {
	v := reflect.ValueOf(into).Elem()
	origin := o.Finding()
	dec := &decoder{types: l.types, root: v.Type(), kind: kind, renamings: l.renamings}
	dec.report = func(at *yaml.Node, code finding.Code, path, message string) {
		f := origin.New(code, strings.TrimPrefix(path, "."), message)
		if !d.source.Derived {
			f.Line, f.Column = at.Line+d.chunk.offset, at.Column
		}
		l.add(f)
	}
	known := l.types.of(v.Type())
	for _, p := range pairs(n) {
		name := p.key.Value
		at, inSchema := known.index[name]
		switch {
		case name == "apiVersion" || name == "kind":
			v.FieldByIndex(at).SetString(resolved(p.value).Value)
		case name == "status":
			dec.report(p.key, finding.StatusIgnored, name, "is written by the reconciler and ignored here; remove it")
		case !inSchema:
			dec.unknown(p.key, v.Type(), "", name)
		case name == "metadata":
			dec.metadata(p, v.FieldByIndex(at))
		default:
			dec.value(p.key, p.value, v.FieldByIndex(at), name)
		}
	}
	return dec.unread
}
