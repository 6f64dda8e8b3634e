// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package load

import (
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/valkey-render/valkey-render/internal/oldbool"
)

// scalarKind is what a scalar is to a reader of YAML.
type scalarKind int

const (
	isText scalarKind = iota
	// isBool is true or false in every version of YAML.
	isBool
	// isOldBool is a boolean in YAML 1.1 (kubectl) and text in 1.2: on, no, y.
	isOldBool
	isNumber
	isNull
)

var (
	number  = regexp.MustCompile(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)
	integer = regexp.MustCompile(`^[-+]?(0|[1-9][0-9]*)$`)
)

// kindOf classifies a scalar. A quoted or block scalar is text. A plain one is
// what either version of YAML makes of it, so that nothing that kubectl reads
// as a number or a boolean passes for text here.
func kindOf(n *yaml.Node) scalarKind {
	if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		return isText
	}
	if n.Style&yaml.TaggedStyle != 0 && n.Tag == "!!str" {
		return isText
	}
	switch n.Value {
	case "", "~", "null", "Null", "NULL":
		return isNull
	case "true", "True", "TRUE", "false", "False", "FALSE":
		return isBool
	}
	if _, old := oldbool.Read(n.Value); old {
		return isOldBool
	}
	if numeric(n.Value) {
		return isNumber
	}
	return isText
}

// numeric holds for decimals, hexadecimals, octals and binaries, underscores
// between digits included, and for infinities and not-a-number. What is too large for
// 64 bits of floating point, such as 8e35376818555765, is text to every reader in Go:
// sigs.k8s.io/yaml, and so kubectl, writes a hash like that without quotes.
func numeric(s string) bool {
	if strings.IndexByte("+-.0123456789", s[0]) < 0 {
		return false
	}
	switch strings.ToLower(strings.TrimLeft(s, "+-")) {
	case ".inf", ".nan":
		return true
	}
	plain := strings.ReplaceAll(s, "_", "")
	if plain == "" {
		return false
	}
	if number.MatchString(plain) {
		_, err := strconv.ParseFloat(plain, 64)
		return err == nil
	}
	_, err := strconv.ParseInt(plain, 0, 64)
	return err == nil
}

// boolean is the value of a scalar that isBool or isOldBool.
func boolean(s string) bool {
	if value, old := oldbool.Read(s); old {
		return value
	}
	return strings.ToLower(s) == "true"
}

// quote writes a scalar in double quotes, as it may be written instead.
func quote(s string) string { return strconv.Quote(s) }
