// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package directive

import (
	"fmt"
	"math/bits"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/valkey-render/valkey-render/internal/nearest"
)

// canonical checks a value and returns it as CONFIG GET prints it.
func (d Directive) canonical(value string) (string, error) {
	for _, line := range strings.Split(value, "\n") {
		if err := printable(line); err != nil {
			return "", err
		}
	}
	if strings.Contains(value, "\n") && !d.Repeatable {
		return "", fmt.Errorf("takes one line")
	}
	switch d.Type {
	case Bool:
		return oneOf([]string{"yes", "no"}, value)
	case Enum:
		return oneOf(d.Enum, value)
	case Flags:
		return d.flags(value)
	case Integer:
		return d.integer(value)
	case Memory, MemoryOrPercent:
		return d.memory(value)
	case Octal:
		return octal(value)
	default:
		return d.syntax(value)
	}
}

// printable refuses what has no place in a line of a config file. Everything else
// can be quoted.
func printable(text string) error {
	if !utf8.ValidString(text) {
		return fmt.Errorf("is not UTF-8")
	}
	for _, r := range text {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return fmt.Errorf("holds the control character %U", r)
		}
	}
	return nil
}

// oneOf returns the server's spelling: it compares without regard to case.
func oneOf(words []string, value string) (string, error) {
	for _, word := range words {
		if strings.EqualFold(word, value) && isASCII(value) {
			return word, nil
		}
	}
	hint := ""
	if near := nearest.Word(value, words); near != "" {
		hint = fmt.Sprintf("; did you mean %q?", near)
	}
	return "", fmt.Errorf("must be one of %s%s", quotedList(words), hint)
}

// isASCII guards against letters that only Unicode folds together (the Kelvin sign).
func isASCII(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII })
}

func quotedList(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = word
		if word == "" {
			quoted[i] = `""`
		}
	}
	return strings.Join(quoted, ", ")
}

func (d Directive) flags(value string) (string, error) {
	words := strings.Fields(value)
	if len(words) == 0 {
		return "", fmt.Errorf("must be one or more of %s", quotedList(d.Enum))
	}
	var set []string
	for _, word := range words {
		flag, err := oneOf(d.Enum, word)
		if err != nil {
			return "", err
		}
		set = append(set, flag)
	}
	if slices.Contains(set, "save") && slices.Contains(set, "nosave") {
		return "", fmt.Errorf("cannot hold both save and nosave")
	}
	// The server prints them in its own order, each once, and the default, which
	// is no flag, only when it is alone.
	ordered := slices.DeleteFunc(slices.Clone(d.Enum), func(flag string) bool {
		return flag == "default" || !slices.Contains(set, flag)
	})
	if len(ordered) == 0 {
		return "default", nil
	}
	return strings.Join(ordered, " "), nil
}

var decimal = regexp.MustCompile(`^(0|-?[1-9][0-9]*)$`)

func (d Directive) integer(value string) (string, error) {
	if !decimal.MatchString(value) {
		return "", fmt.Errorf("must be a whole number between %d and %d", d.Min, d.Max)
	}
	if !d.inRange(value) {
		return "", fmt.Errorf("must be between %d and %d", d.Min, d.Max)
	}
	return value, nil
}

func (d Directive) inRange(value string) bool {
	if strings.HasPrefix(value, "-") {
		n, err := strconv.ParseInt(value, 10, 64)
		return err == nil && n >= d.Min
	}
	n, err := strconv.ParseUint(value, 10, 64)
	return err == nil && n <= d.Max && (d.Min < 0 || n >= uint64(d.Min))
}

var percent = regexp.MustCompile(`^([1-9][0-9]?|100)%$`)

func (d Directive) memory(value string) (string, error) {
	if d.Type == MemoryOrPercent && strings.HasSuffix(value, "%") {
		if percent.MatchString(value) {
			return value, nil
		}
		return "", fmt.Errorf("must be between 1%% and 100%%, or a size such as 100mb")
	}
	bytes, err := memory(value)
	if err != nil {
		return "", err
	}
	if text := strconv.FormatUint(bytes, 10); d.inRange(text) {
		return text, nil
	}
	return "", fmt.Errorf("must be between %s and %s", size(uint64(d.Min)), size(d.Max))
}

var quantity = regexp.MustCompile(`^([0-9]{1,20})([A-Za-z]*)$`)

// memory reads a size as the server does: mb is 1024*1024, m is 1000*1000.
func memory(value string) (uint64, error) {
	parts := quantity.FindStringSubmatch(value)
	if parts == nil {
		return 0, fmt.Errorf("must be a size: digits and b, k, kb, m, mb, g or gb, such as 100mb%s", kubernetesHint(value))
	}
	units := map[string]uint64{
		"": 1, "b": 1, "k": 1000, "kb": 1 << 10, "m": 1000 * 1000, "mb": 1 << 20, "g": 1000 * 1000 * 1000, "gb": 1 << 30,
	}
	unit, known := units[strings.ToLower(parts[2])]
	if !known {
		return 0, fmt.Errorf("has the unknown unit %q: b, k, kb, m, mb, g and gb are known%s", parts[2], kubernetesHint(value))
	}
	n, err := strconv.ParseUint(parts[1], 10, 64)
	if high, low := bits.Mul64(n, unit); err == nil && high == 0 {
		return low, nil
	}
	return 0, fmt.Errorf("is too large")
}

var binaryUnit = regexp.MustCompile(`^([0-9]+)([KMG])i$`)

// kubernetesHint helps those who wrote a Kubernetes quantity.
func kubernetesHint(value string) string {
	parts := binaryUnit.FindStringSubmatch(value)
	if parts == nil {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", parts[1]+strings.ToLower(parts[2])+"b")
}

// size prints bytes with the largest unit that divides them.
func size(bytes uint64) string {
	for _, unit := range []struct {
		name  string
		shift uint
	}{{"gb", 30}, {"mb", 20}, {"kb", 10}} {
		if bytes != 0 && bytes%(1<<unit.shift) == 0 {
			return fmt.Sprintf("%d%s", bytes>>unit.shift, unit.name)
		}
	}
	return strconv.FormatUint(bytes, 10)
}

func octal(value string) (string, error) {
	if n, err := strconv.ParseUint(value, 8, 16); err == nil && n <= 0o777 {
		return strconv.FormatUint(n, 8), nil
	}
	return "", fmt.Errorf("must be an octal mode up to 777")
}
