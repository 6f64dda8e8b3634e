// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Value is a value of a chart that can be set.
type Value struct {
	// Path is its name, with dots.
	Path string
	// Default is what values.yaml gives it, as JSON.
	Default string
	// About is the comment above it.
	About string
}

// Values are those of a values.yaml, in its order: everything that has a comment. What has
// none is a block of others.
func Values(text []byte) ([]Value, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	if len(document.Content) != 1 {
		return nil, errors.New("not one document")
	}
	return below("", document.Content[0])
}

func below(path string, node *yaml.Node) ([]Value, error) {
	if node.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("%s has no comment that says what it is", path)
	}
	var out []Value
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		at := strings.TrimPrefix(path+"."+key.Value, ".")
		about := words(key.HeadComment)
		if about == "" {
			more, err := below(at, value)
			if err != nil {
				return nil, err
			}
			out = append(out, more...)
			continue
		}
		var content any
		if err := value.Decode(&content); err != nil {
			return nil, fmt.Errorf("%s: %w", at, err)
		}
		text, err := json.Marshal(content)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", at, err)
		}
		out = append(out, Value{Path: at, Default: string(text), About: about})
	}
	return out, nil
}

// words is the text of the last paragraph of a comment; those before it are about the file.
func words(comment string) string {
	paragraphs := strings.Split(comment, "\n\n")
	var out []string
	for line := range strings.SplitSeq(paragraphs[len(paragraphs)-1], "\n") {
		out = append(out, strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "#")))
	}
	return strings.TrimSpace(strings.Join(out, " "))
}

// ValuesTable is a page with its table of values written anew.
func ValuesTable(page []byte, values []Value) ([]byte, error) {
	rows := make([][]string, 0, len(values))
	for _, v := range values {
		rows = append(rows, []string{"`" + v.Path + "`", "`" + v.Default + "`", v.About})
	}
	return table(page, "values", []string{"value", "default", "is"}, rows)
}

// table is a page with the table between two marks written anew.
func table(page []byte, mark string, head []string, rows [][]string) ([]byte, error) {
	begin := "<!-- " + mark + ": written by go test ./internal/chart -update -->\n"
	end := "<!-- end of " + mark + " -->\n"
	before, rest, begins := strings.Cut(string(page), begin)
	_, after, ends := strings.Cut(rest, end)
	if !begins || !ends {
		return nil, fmt.Errorf("no marks of the table of %s", mark)
	}
	var out strings.Builder
	out.WriteString(before + begin)
	for _, cells := range append([][]string{head, slices.Repeat([]string{"---"}, len(head))}, rows...) {
		for _, cell := range cells {
			out.WriteString("| " + strings.ReplaceAll(cell, "|", `\|`) + " ")
		}
		out.WriteString("|\n")
	}
	out.WriteString(end + after)
	return []byte(out.String()), nil
}
