// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package load

import (
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/valkey-render/valkey-render/render/finding"
)

// scalar decodes text, booleans and numbers; nulls are dealt with before.
func (d *decoder) scalar(at, n *yaml.Node, v reflect.Value, path string) {
	kind := kindOf(n)
	switch v.Kind() {
	case reflect.String:
		d.text(at, n, kind, v, path)
	case reflect.Bool:
		d.bool(at, n, kind, v, path)
	case reflect.Int, reflect.Int32, reflect.Int64:
		d.int(at, n, kind, v, path)
	default:
		d.fail(at, finding.WrongType, path, fmt.Sprintf("a field of type %s cannot be read", v.Type()))
	}
}

func (d *decoder) text(at, n *yaml.Node, kind scalarKind, v reflect.Value, path string) {
	if kind == isText {
		v.SetString(n.Value)
		return
	}
	what := map[scalarKind]string{isBool: "a boolean", isOldBool: "a boolean to kubectl", isNumber: "a number"}[kind]
	if hidden(path, n.Value) {
		d.fail(at, finding.NeedsQuotes, path, fmt.Sprintf("is %s where text is wanted; put it in quotes", what))
		return
	}
	d.report(at, finding.NeedsQuotes, path, fmt.Sprintf("%s is %s where text is wanted; write %s", n.Value, what, quote(n.Value)))
	// What was meant is clear, so that validation can go on with it.
	v.SetString(n.Value)
}

func (d *decoder) bool(at, n *yaml.Node, kind scalarKind, v reflect.Value, path string) {
	switch kind {
	case isBool:
		v.SetBool(boolean(n.Value))
	case isOldBool:
		d.report(at, finding.WrongType, path, fmt.Sprintf("%s is a boolean only in YAML 1.1; write %t", n.Value, boolean(n.Value)))
		v.SetBool(boolean(n.Value))
	default:
		message := "must be true or false, not " + described(n, path)
		switch strings.ToLower(n.Value) {
		case "true", "yes", "on", "1", "enabled":
			message = "must be true or false, not " + describe(n) + "; write true without quotes"
		case "false", "no", "off", "0", "disabled":
			message = "must be true or false, not " + describe(n) + "; write false without quotes"
		}
		d.fail(at, finding.WrongType, path, message)
	}
}

func (d *decoder) int(at, n *yaml.Node, kind scalarKind, v reflect.Value, path string) {
	plain := strings.ReplaceAll(n.Value, "_", "")
	switch {
	case kind == isText && integer.MatchString(n.Value):
		d.fail(at, finding.WrongType, path, fmt.Sprintf("must be a whole number, not text; write %s without quotes", n.Value))
		return
	case kind != isNumber:
		d.fail(at, finding.WrongType, path, "must be a whole number, not "+described(n, path))
		return
	case !integer.MatchString(n.Value):
		message := fmt.Sprintf("%s is not a plain whole number", n.Value)
		if len(plain) > 1 && plain[0] == '0' && strings.Trim(plain, "0123456789") == "" {
			message += "; YAML 1.1 reads a leading zero as octal, 1.2 does not: write it without"
		} else if i, err := strconv.ParseInt(plain, 0, 64); err == nil {
			message += fmt.Sprintf("; write %d", i)
		} else if f, err := strconv.ParseFloat(plain, 64); err == nil && f == float64(int64(f)) {
			message += fmt.Sprintf("; write %d", int64(f))
		}
		d.fail(at, finding.WrongType, path, message)
		return
	}
	i, err := strconv.ParseInt(n.Value, 10, v.Type().Bits())
	if err != nil {
		d.fail(at, finding.WrongType, path, fmt.Sprintf("%s does not fit into %d bits", n.Value, v.Type().Bits()))
		return
	}
	v.SetInt(i)
}

// scalarName names what a type takes.
func scalarName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "true or false"
	default:
		return "a whole number"
	}
}

// specialName names what a type that reads its own JSON takes.
func specialName(t reflect.Type) string {
	switch t.Name() {
	case "Quantity":
		return "a quantity such as 512Mi or 250m"
	case "Duration":
		return "a duration such as 5s or 1m30s"
	case "IntOrString":
		return "a number or a name"
	case "Time", "MicroTime":
		return "a time such as 2006-01-02T15:04:05Z"
	default:
		return "a " + t.Name()
	}
}

var (
	looseQuantity = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?) *([kKmMgGtTpP])([iI]?)[bB]?$`)
	looseDuration = regexp.MustCompile(`^([0-9]+) *(ms|[smhd]|sec|secs|seconds?|min|mins|minutes?|hours?|days?|)$`)
)

// nearestFormat guesses what a quantity or duration was meant to be.
func nearestFormat(typeName, value string) string {
	switch typeName {
	case "Quantity":
		m := looseQuantity.FindStringSubmatch(value)
		if m == nil {
			return ""
		}
		return m[1] + strings.ToUpper(m[2]) + "i"
	case "Duration":
		m := looseDuration.FindStringSubmatch(strings.ToLower(value))
		switch {
		case m == nil:
			return ""
		case m[2] == "ms":
			return m[1] + "ms"
		case m[2] == "":
			return m[1] + "s"
		case m[2][0] == 'd':
			days, err := strconv.Atoi(m[1])
			if err != nil || days > 10000 {
				return ""
			}
			return fmt.Sprintf("%dh", days*24)
		}
		return m[1] + m[2][:1]
	}
	return ""
}
