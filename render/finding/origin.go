// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/internal/nearest"
)

// Origin is where an object was read, as much of it as a finding tells.
type Origin struct {
	// File is the source as the caller named it.
	File string
	// Document counts the YAML documents of File from 1.
	Document int
	// Object is Kind/namespace/name.
	Object string
	// Position returns line and column of a path, or of its nearest parent that
	// was given; nil when positions are unknown.
	Position func(path string) (line, column int)
	// Unread are the paths whose values could not be read, which was reported.
	// What a validation says of the zero values there is nothing anybody wrote.
	Unread []string
}

// unread says whether the value at path could not be read.
func (o Origin) unread(path string) bool {
	return slices.ContainsFunc(o.Unread, func(parent string) bool {
		rest, found := strings.CutPrefix(path, parent)
		return found && (rest == "" || rest[0] == '.' || rest[0] == '[')
	})
}

// New returns a finding at path.
func (o Origin) New(code Code, path, message string) Finding {
	f := New(code, message)
	f.File, f.Document, f.Object, f.Path = o.File, o.Document, o.Object, path
	if o.Position != nil {
		f.Line, f.Column = o.Position(path)
	}
	return f
}

// Newf is New with a formatted message.
func (o Origin) Newf(code Code, path, format string, args ...any) Finding {
	return o.New(code, path, fmt.Sprintf(format, args...))
}

// FromFieldErrors turns the errors of a validation into findings at origin. An
// error has the code that WithCode gave it, else one by its type, which never
// depends on its text. The message is the error's detail; the value is added
// where it helps and is not Secret. Errors at what is Unread are left out.
func FromFieldErrors(origin Origin, errs field.ErrorList) List {
	out := make(List, 0, len(errs))
	for _, e := range errs {
		if origin.unread(e.Field) {
			continue
		}
		out = append(out, origin.New(codeOf(e), e.Field, fieldMessage(e)))
	}
	return out
}

// fieldMessage words a field error.
func fieldMessage(e *field.Error) string {
	detail := strings.TrimSuffix(strings.TrimSpace(e.Detail), ".")
	value, shown := fieldValue(e)
	switch e.Type {
	case field.ErrorTypeRequired:
		return cmp.Or(detail, "is required")
	case field.ErrorTypeDuplicate:
		text := "is given twice"
		if shown {
			text = value + " is given twice"
		}
		return join(text, detail)
	case field.ErrorTypeNotSupported:
		if !shown {
			return join("is not supported", detail)
		}
		text := value + " is not supported"
		if near := nearest.Word(strings.Trim(value, `"`), quoted(detail)); near != "" {
			text += fmt.Sprintf("; did you mean %q?", near)
		}
		return join(text, detail)
	case field.ErrorTypeForbidden:
		return cmp.Or(detail, "is not allowed here")
	case field.ErrorTypeInternal:
		return cmp.Or(detail, "could not be checked")
	default:
		text := cmp.Or(detail, "is not valid")
		bare := strings.Trim(value, `"`)
		if !shown || bare == "" || strings.Contains(detail, bare) || strings.HasSuffix(e.Field, "["+bare+"]") {
			return text
		}
		return text + " (got " + value + ")"
	}
}

// fieldValue is the bad value as it may be shown: a scalar, short, no secret.
func fieldValue(e *field.Error) (string, bool) {
	if Secret(e.Field) {
		return "", false
	}
	switch v := e.BadValue.(type) {
	case nil:
		return "", false
	case string:
		if v == omitted || v == notShown || v1alpha1.HoldsPassword(e.Field, v) {
			return "", false
		}
		return fmt.Sprintf("%q", shorten(v)), true
	case bool, int, int32, int64, uint32, uint64, float64:
		return fmt.Sprint(v), true
	case fmt.Stringer:
		return fmt.Sprintf("%q", shorten(v.String())), true
	}
	text := fmt.Sprintf("%v", e.BadValue)
	if strings.ContainsAny(text, "{}[]&") || strings.HasPrefix(text, "0x") {
		return "", false
	}
	return fmt.Sprintf("%q", shorten(text)), true
}

const (
	// omitted is what field.TooLong has for a value.
	omitted = "<value omitted>"
	// notShown is what Validate has for one that may be a password.
	notShown = "(not shown)"
)

func join(text, detail string) string {
	if detail == "" {
		return text
	}
	return text + "; " + detail
}

// shorten cuts a value to what is worth reading in a message.
func shorten(s string) string {
	const most = 80
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return s
}

// quoted returns the double-quoted words of a text.
func quoted(text string) []string {
	var out []string
	parts := strings.Split(text, `"`)
	for i := 1; i < len(parts); i += 2 {
		out = append(out, parts[i])
	}
	return out
}

// secretPath matches paths whose value may hold a password or a key: the
// directives that take one, and ACL rules (`>password`).
var secretPath = regexp.MustCompile(`(?i)(pass(word|phrase|wd)?s?\]|auth\]|auth-pass|secret-?key\]|` +
	`\[user\]|sentinel-pass|\.permissions$|token\]|(^|\.)(password|token|credential)s?$)`)

// Secret says whether the value at path may be a secret and is never shown:
// spec.config[requirepass], spec.config[primaryauth], spec.users[0].permissions
// and their like.
func Secret(path string) bool { return secretPath.MatchString(path) }
