// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package directive

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// syntax checks the values that have a syntax of their own.
func (d Directive) syntax(value string) (string, error) {
	switch d.Type {
	case Word:
		if strings.ContainsAny(value, " \u00a0") {
			return "", fmt.Errorf("holds a space")
		}
		return value, nil
	case CPUList:
		return cpuList(value)
	case Template:
		return template(value)
	case Save:
		return save(value)
	case OutputBufferLimit:
		return outputBufferLimit(value)
	case OOMScoreValues:
		return oomScoreValues(value)
	case KeyspaceEvents:
		return keyspaceEvents(value)
	case Percentiles:
		return percentiles(value)
	default:
		return value, nil
	}
}

var cpus = regexp.MustCompile(`^([0-9]{1,4}(-[0-9]{1,4}(:[0-9]{1,4})?)?(,[0-9]{1,4}(-[0-9]{1,4}(:[0-9]{1,4})?)?)*)?$`)

func cpuList(value string) (string, error) {
	if !cpus.MatchString(value) {
		return "", fmt.Errorf("must be a list of processors, such as 0-7:2,9")
	}
	return value, nil
}

var variable = regexp.MustCompile(`\{(title|listen-addr|server-mode|port|tls-port|unixsocket|config-file)\}`)

func template(value string) (string, error) {
	if strings.ContainsAny(variable.ReplaceAllString(value, ""), "{}") {
		return "", fmt.Errorf("may hold {title}, {listen-addr}, {server-mode}, {port}, {tls-port}, {unixsocket} and {config-file}, and no other braces")
	}
	// The server tries it without a title, a socket or a mode, and wants a letter left.
	if strings.Trim(maybeEmpty.Replace(value), " ") == "" {
		return "", fmt.Errorf("must be more than {title}, {unixsocket} and {server-mode}, which can be empty")
	}
	return value, nil
}

var maybeEmpty = strings.NewReplacer("{title}", "", "{unixsocket}", "", "{server-mode}", "")

// isCount tells a number of the server's int.
func isCount(word string, least int64) bool {
	d := Directive{Min: least, Max: math.MaxInt32}
	return decimal.MatchString(word) && d.inRange(word)
}

// save takes lines of pairs; the canonical form is all pairs in one line.
func save(value string) (string, error) {
	words := strings.Fields(value)
	if len(words)%2 != 0 {
		return "", fmt.Errorf("must be pairs of seconds and changes, such as \"3600 1\", one a line, or empty")
	}
	for _, line := range strings.Split(value, "\n") {
		if len(strings.Fields(line))%2 != 0 || len(words) > 0 && strings.TrimSpace(line) == "" {
			return "", fmt.Errorf("must be pairs of seconds and changes, such as \"3600 1\", one a line")
		}
	}
	for i := 0; i < len(words); i += 2 {
		if !isCount(words[i], 1) || !isCount(words[i+1], 0) {
			return "", fmt.Errorf("has the pair %q: seconds must be from 1 and changes from 0 to %d", words[i]+" "+words[i+1], math.MaxInt32)
		}
	}
	return strings.Join(words, " "), nil
}

// outputBufferLimit takes lines of a class and its three numbers; the canonical
// form has the classes in the server's order, with its names, sizes in bytes.
func outputBufferLimit(value string) (string, error) {
	const form = "must be lines \"<normal, replica or pubsub> <hard limit> <soft limit> <soft seconds>\", such as \"replica 256mb 64mb 60\""
	classes := map[string]string{"normal": "normal", "replica": "slave", "slave": "slave", "pubsub": "pubsub"}
	found := map[string]string{}
	for _, line := range strings.Split(value, "\n") {
		words := strings.Fields(line)
		if len(words) == 0 || len(words)%4 != 0 {
			return "", fmt.Errorf("%s", form)
		}
		for i := 0; i < len(words); i += 4 {
			class, known := classes[strings.ToLower(words[i])]
			if !known {
				return "", fmt.Errorf("has the class %q: %s", words[i], form)
			}
			if found[class] != "" {
				return "", fmt.Errorf("has the class %s twice", words[i])
			}
			limit, err := oneLimit(words[i+1], words[i+2], words[i+3])
			if err != nil {
				return "", fmt.Errorf("of class %s %w", words[i], err)
			}
			found[class] = class + " " + limit
		}
	}
	var ordered []string
	for _, class := range []string{"normal", "slave", "pubsub"} {
		if found[class] != "" {
			ordered = append(ordered, found[class])
		}
	}
	return strings.Join(ordered, " "), nil
}

func oneLimit(hard, soft, seconds string) (string, error) {
	var limits [2]uint64
	for i, word := range []string{hard, soft} {
		limit, err := memory(word)
		if err == nil && limit > math.MaxInt64 {
			err = fmt.Errorf("is too large")
		}
		if err != nil {
			return "", fmt.Errorf("has the limit %q, which %w", word, err)
		}
		limits[i] = limit
	}
	if !isCount(seconds, 0) {
		return "", fmt.Errorf("has the seconds %q: must be from 0 to %d", seconds, math.MaxInt32)
	}
	return fmt.Sprintf("%d %d %s", limits[0], limits[1], seconds), nil
}

func oomScoreValues(value string) (string, error) {
	words := strings.Fields(value)
	d := Directive{Min: -2000, Max: 2000}
	for _, word := range words {
		if !decimal.MatchString(word) || !d.inRange(word) {
			return "", fmt.Errorf("has %q: must be three numbers from -2000 to 2000", word)
		}
	}
	if len(words) != 3 {
		return "", fmt.Errorf("must be three numbers from -2000 to 2000")
	}
	return strings.Join(words, " "), nil
}

// eventClasses are all letters; A stands for those without m and n, which tell
// misses and new keys.
const eventClasses = "AKEg$lshzxetdmn"

func keyspaceEvents(value string) (string, error) {
	for _, r := range value {
		if !strings.ContainsRune(eventClasses, r) {
			return "", fmt.Errorf("has the letter %q: %s are known", r, eventClasses)
		}
	}
	return value, nil
}

var fraction = regexp.MustCompile(`^[0-9]{1,3}(\.[0-9]{1,15})?$`)

func percentiles(value string) (string, error) {
	words := strings.Fields(value)
	for _, word := range words {
		// The syntax leaves nothing that ParseFloat refuses.
		n, _ := strconv.ParseFloat(word, 64)
		if !fraction.MatchString(word) || n > 100 {
			return "", fmt.Errorf("has %q: must be numbers from 0 to 100, such as \"50 99 99.9\"", word)
		}
	}
	return strings.Join(words, " "), nil
}
