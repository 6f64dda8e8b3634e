// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Severity says whether a finding stops the run.
type Severity string

const (
	// Error stops the run: nothing is rendered.
	Error Severity = "error"
	// Warning is reported and changes nothing else.
	Warning Severity = "warning"
)

// Finding is one thing wrong, or doubtful, in the input.
type Finding struct {
	// Code is the stable code, for example VR0101.
	Code Code `json:"code"`
	// Severity is the one that Lookup has for Code, unless a caller was asked to
	// be stricter.
	Severity Severity `json:"severity"`
	// File is the source as the caller named it; empty when there is none.
	File string `json:"file,omitempty"`
	// Document counts the YAML documents of File from 1; 0 when unknown.
	Document int `json:"document,omitempty"`
	// Line and Column count from 1; 0 when unknown.
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
	// Object is Kind/namespace/name, or Kind/name without a namespace.
	Object string `json:"object,omitempty"`
	// Path is the field, as field.Path prints it: spec.users[0].name.
	Path string `json:"path,omitempty"`
	// Message says what is wrong and, where known, the nearest right value. One
	// line, lower case, no trailing full stop, never a secret.
	Message string `json:"message"`
}

// New returns a finding with the severity of its code.
func New(code Code, message string) Finding {
	severity := Error
	if info, ok := Lookup(code); ok {
		severity = info.Severity
	}
	return Finding{Code: code, Severity: severity, Message: message}
}

// String is the text form, one line:
//
//	file.yaml:12:5: error VR0101 ValkeyCluster/ns/name spec.shard: unknown field; did you mean "shards"? (document 1)
func (f Finding) String() string {
	var b strings.Builder
	if f.File != "" {
		b.WriteString(oneLine(f.File))
		if f.Line > 0 {
			fmt.Fprintf(&b, ":%d", f.Line)
			if f.Column > 0 {
				fmt.Fprintf(&b, ":%d", f.Column)
			}
		}
		b.WriteString(": ")
	}
	fmt.Fprintf(&b, "%s %s", f.Severity, f.Code)
	for _, part := range []string{f.Object, f.Path} {
		if part != "" {
			b.WriteString(" " + oneLine(part))
		}
	}
	b.WriteString(": " + oneLine(f.Message))
	if f.Document > 0 {
		fmt.Fprintf(&b, " (document %d)", f.Document)
	}
	return b.String()
}

// List is a number of findings.
type List []Finding

// Sorted returns the findings by file, document, line, column, path, code and
// message, each once. The receiver is left as it is.
func (l List) Sorted() List {
	out := slices.Clone(l)
	slices.SortStableFunc(out, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(a.File, b.File),
			cmp.Compare(a.Document, b.Document),
			cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Path, b.Path),
			cmp.Compare(a.Code, b.Code),
			cmp.Compare(a.Object, b.Object),
			cmp.Compare(a.Message, b.Message),
			cmp.Compare(a.Severity, b.Severity),
		)
	})
	return slices.Compact(out)
}

// Errors returns the findings that stop the run.
func (l List) Errors() List { return l.only(Error) }

// Warnings returns the findings that do not.
func (l List) Warnings() List { return l.only(Warning) }

func (l List) only(severity Severity) List {
	var out List
	for _, f := range l {
		if f.Severity == severity {
			out = append(out, f)
		}
	}
	return out
}

// HasErrors says whether any finding stops the run.
func (l List) HasErrors() bool {
	return slices.ContainsFunc(l, func(f Finding) bool { return f.Severity == Error })
}

// Err joins the findings that stop the run, sorted, in their text form; nil
// when there are none.
func (l List) Err() error {
	var errs []error
	for _, f := range l.Errors().Sorted() {
		errs = append(errs, errors.New(f.String()))
	}
	return errors.Join(errs...)
}

// oneLine keeps a text on one line and free of control characters, so that no
// value of the input can forge a second finding or drive a terminal.
func oneLine(s string) string {
	if !strings.ContainsFunc(s, isControl) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case isControl(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// isControl also holds for the bidirectional overrides, which let a text read
// differently from what it is.
func isControl(r rune) bool {
	return r < 0x20 || (r >= 0x7f && r < 0xa0) || r == 0x2028 || r == 0x2029 ||
		(r >= 0x202a && r <= 0x202e) || (r >= 0x2066 && r <= 0x2069)
}
