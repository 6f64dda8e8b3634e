// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/cmd/valkey-render/internal/difference"
	"github.com/valkey-render/valkey-render/cmd/valkey-render/internal/outdir"
	"github.com/valkey-render/valkey-render/cmd/valkey-render/internal/system"
	"github.com/valkey-render/valkey-render/render/plan"
	"github.com/valkey-render/valkey-render/render/write"
)

// change is an object whose committed and rendered texts differ.
type change struct {
	// file is the path for people, line where the text begins in it.
	file string
	line int
	// id is the object's, "" where it cannot be read.
	id string
	// committed and rendered are the texts; nil for what is not there.
	committed, rendered []byte
	// foreign says that others wrote what is committed.
	foreign bool
}

// drift is how a rendering differs from what is committed.
type drift struct {
	changes []change
	diff    []byte
	// plan is empty when objects were renamed: it would speak of other ones.
	plan    plan.Plan
	renamed []difference.Renamed
	// before and after are the objects that the plan is made of.
	before, after []*unstructured.Unstructured
	// buf is where texts are made before it is known whether they are kept.
	buf []byte
}

// compare finds what differs. Texts that do not differ are not kept.
func (g *goldenFiles) compare() (*drift, error) {
	d := &drift{}
	var err error
	switch {
	case g.absent:
	case g.file:
		err = g.compareFile(d)
	default:
		err = g.compareDirectory(d)
	}
	if err != nil {
		return nil, err
	}
	d.renamed = difference.FindRenamed(d.committedTexts())
	d.plan = plan.Plan{Effects: []plan.Effect{}}
	if len(d.renamed) == 0 {
		d.plan = plan.Compare(d.before, d.after)
	}
	return d, nil
}

func (g *goldenFiles) compareDirectory(d *drift) error {
	root, err := g.files.OpenRoot(g.path)
	if err != nil {
		return err
	}
	defer root.Close()
	rendered := make(map[string]write.File, len(g.layout))
	names := map[string]bool{}
	for _, f := range g.layout {
		rendered[f.Path], names[f.Path] = f, true
	}
	for name := range g.tree.Files {
		names[name] = true
	}
	for name, ours := range g.tree.Rendered {
		if ours {
			names[name] = true
		}
	}
	// A golden without a ValkeyCluster says nothing of what the others belong to.
	whole := !slices.ContainsFunc(slices.Collect(maps.Keys(g.tree.Files)), func(name string) bool {
		return strings.Contains("/"+name, "/"+strings.ToLower(v1alpha1.KindCluster)+"-")
	})
	for _, name := range slices.Sorted(maps.Keys(names)) {
		f, isRendered := rendered[name]
		if err := g.compareName(d, root, name, f, isRendered, whole); err != nil {
			return err
		}
	}
	return nil
}

// compareName compares one file of a directory.
func (g *goldenFiles) compareName(d *drift, root system.Root, name string, f write.File, isRendered, whole bool) error {
	sum, isOurs := g.tree.Files[name]
	if !isOurs {
		sum = g.tree.Foreign[name]
	}
	_, isForeign := g.tree.Foreign[name]
	c := change{file: g.show(name), line: 1, foreign: isForeign}
	if isRendered {
		data, err := f.Data(d.buf)
		if err != nil {
			return err
		}
		d.buf = data
		if (isOurs || isForeign) && sum == outdir.SumOf(data) {
			if whole || f.Object.GetKind() == v1alpha1.KindCluster {
				d.before, d.after = append(d.before, f.Object), append(d.after, f.Object)
			}
			return nil
		}
		c.rendered, c.id = bytes.Clone(data), plan.ID(f.Object)
		d.after = append(d.after, f.Object)
	}
	if isOurs || isForeign {
		data, err := root.ReadFile(name, nil)
		if err != nil {
			return err
		}
		c.committed = outdir.WithoutCR(data)
		if was := decode(c.committed); was != nil {
			d.before = append(d.before, was)
			if c.id == "" {
				c.id = plan.ID(was)
			}
		}
	}
	d.changes = append(d.changes, c)
	d.diff = append(d.diff, difference.Unified(relative(c.file), c.committed, c.rendered)...)
	return nil
}

// compareFile compares one file with all objects, document by document.
func (g *goldenFiles) compareFile(d *drift) error {
	text, err := write.YAML(g.objects)
	if err != nil || bytes.Equal(text, g.text) {
		return err
	}
	file := g.show("")
	d.diff = difference.Unified(relative(file), g.text, text)
	rendered := map[string]document{}
	same := map[string]*unstructured.Unstructured{}
	for i, doc := range documents(text) {
		rendered[plan.ID(g.objects[i])] = doc
		same[string(doc.text)] = g.objects[i]
	}
	met := map[string]bool{}
	for _, doc := range documents(g.text) {
		// What is the same need not be read.
		if o := same[string(doc.text)]; o != nil {
			met[plan.ID(o)] = true
			d.before = append(d.before, o)
			continue
		}
		c := change{file: file, line: doc.line, committed: doc.text}
		if was := decode(doc.text); was != nil {
			d.before = append(d.before, was)
			c.id = plan.ID(was)
			if now, ok := rendered[c.id]; ok {
				c.rendered = now.text
			}
			met[c.id] = true
		}
		d.changes = append(d.changes, c)
	}
	d.after = g.objects
	for _, o := range g.objects {
		if id := plan.ID(o); !met[id] {
			d.changes = append(d.changes, change{file: file, line: 1, id: id, rendered: rendered[id].text})
		}
	}
	return nil
}

// document is one of a YAML stream, and the line where it begins.
type document struct {
	text []byte
	line int
}

// documents splits a stream as write.YAML makes them.
func documents(stream []byte) []document {
	var out []document
	line := 1
	for i, text := range bytes.Split(stream, []byte("\n---\n")) {
		if i > 0 {
			line++ // the separator
		}
		if text = bytes.TrimSuffix(text, []byte("\n")); len(text) > 0 {
			out = append(out, document{append(text[:len(text):len(text)], '\n'), line})
		}
		line += bytes.Count(text, []byte("\n")) + 1
	}
	return out
}

// decode reads an object; nil for what is none.
func decode(text []byte) *unstructured.Unstructured {
	data, err := yaml.YAMLToJSON(text)
	if err != nil {
		return nil
	}
	o := &unstructured.Unstructured{}
	if o.UnmarshalJSON(data) != nil || o.GetName() == "" {
		return nil
	}
	return o
}

// relative is a path for a diff, which is applied from the top of a repository.
func relative(file string) string {
	return strings.TrimPrefix(file, "/")
}

// summary is one line for humans.
func (d *drift) summary(what string) string {
	var changed, missing, extra int
	for _, c := range d.changes {
		switch {
		case c.committed == nil:
			missing++
		case c.rendered == nil:
			extra++
		default:
			changed++
		}
	}
	var parts []string
	for _, part := range []struct {
		n    int
		text string
	}{{changed, "changed"}, {missing, "missing"}, {extra, "no longer rendered"}} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", count(part.n, what), part.text))
		}
	}
	return strings.Join(parts, ", ")
}

// committedTexts are those that differ, by file, for what looks at names in them.
func (d *drift) committedTexts() map[string][]byte {
	out := map[string][]byte{}
	for _, c := range d.changes {
		if c.committed != nil {
			out[c.file] = append(append(out[c.file], "---\n"...), c.committed...)
		}
	}
	return out
}
