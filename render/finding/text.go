// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Text returns one line for each finding, sorted; see Finding.String.
func (l List) Text() []byte {
	var b bytes.Buffer
	for _, f := range l.Sorted() {
		b.WriteString(f.String())
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// JSON returns {"findings": [...], "errors": n, "warnings": n}, sorted and
// indented, with a final newline.
func (l List) JSON() ([]byte, error) {
	report := struct {
		Findings List `json:"findings"`
		Errors   int  `json:"errors"`
		Warnings int  `json:"warnings"`
	}{l.Sorted(), len(l.Sorted().Errors()), len(l.Sorted().Warnings())}
	if report.Findings == nil {
		report.Findings = List{}
	}
	return encode(report)
}

// encode keeps <, > and & readable: the output is no HTML.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("findings: encoding failed: %w", err)
	}
	return b.Bytes(), nil
}

// GitHub returns one workflow command for each finding, sorted: GitHub Actions
// shows it at its line of the pull request.
func (l List) GitHub() []byte {
	var b bytes.Buffer
	for _, f := range l.Sorted() {
		var properties []string
		add := func(name, value string) {
			properties = append(properties, name+"="+githubProperty(value))
		}
		if f.File != "" {
			add("file", f.File)
		}
		if f.Line > 0 {
			add("line", fmt.Sprint(f.Line))
		}
		if f.Column > 0 {
			add("col", fmt.Sprint(f.Column))
		}
		add("title", string(f.Code))
		fmt.Fprintf(&b, "::%s %s::%s\n", f.Severity, strings.Join(properties, ","), githubData(f.about()))
	}
	return b.Bytes()
}

// about is the message with the object and field it speaks of.
func (f Finding) about() string {
	var parts []string
	for _, part := range []string{f.Object, f.Path} {
		if part != "" {
			parts = append(parts, oneLine(part))
		}
	}
	if len(parts) == 0 {
		return oneLine(f.Message)
	}
	return strings.Join(parts, " ") + ": " + oneLine(f.Message)
}

func githubData(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func githubProperty(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(s)
}
