// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package setting

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/valkey-render/valkey-render/render/directive"
)

// LiveFile is the key of ConfigMap <cluster>-live with the directives of a minor version.
func LiveFile(version string) string { return version + ".conf" }

// liveEnd is the last line of a file that nothing has cut short.
func liveEnd(version string) string { return "# valkey-render: end of " + LiveFile(version) }

const (
	save         = "save"
	maxclients   = "maxclients"
	outputBuffer = "client-output-buffer-limit"
	events       = "notify-keyspace-events"
	percentiles  = "latency-tracking-info-percentiles"
)

// ParseLive reads the live file of a minor version: values by the present names of their
// directives, as CONFIG GET prints them.
func ParseLive(version, text string) (map[string]string, error) {
	body, cut := strings.CutSuffix(strings.TrimRight(text, "\r\n"), liveEnd(version))
	if !cut || body != "" && !strings.HasSuffix(body, "\n") {
		return nil, fmt.Errorf("%s: does not end with %q", LiveFile(version), liveEnd(version))
	}
	values := map[string]string{}
	var problems []error
	for line := range strings.Lines(body) {
		line = trimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if err := addLine(version, line, values); err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", LiveFile(version), err))
		}
	}
	for name, value := range values {
		_, canonical, err := directive.Canonical(version, name, value)
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", LiveFile(version), err))
			continue
		}
		values[name] = canonical
	}
	if len(problems) > 0 {
		slices.SortFunc(problems, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
		return nil, errors.Join(problems...)
	}
	if limits, there := values[outputBuffer]; there {
		d, _ := directive.Lookup(version, outputBuffer)
		values[outputBuffer] = mergeLimits(d.Default, limits)
	}
	return values, nil
}

// addLine takes one line of the file over.
func addLine(version, line string, values map[string]string) error {
	words, err := splitLine(line)
	if err != nil {
		return fmt.Errorf("line of %s: %w", strings.Fields(line)[0], err)
	}
	if len(words) < 2 {
		return fmt.Errorf("%s: has no value", words[0])
	}
	d, found := directive.Lookup(version, words[0])
	switch {
	case !found:
		return fmt.Errorf("%s: unknown to Valkey %s", words[0], version)
	case d.Class != directive.Live:
		return fmt.Errorf("%s: takes a restart", d.Name)
	case d.Secret:
		return fmt.Errorf("%s: belongs in a Secret", d.Name)
	}
	value := strings.Join(words[1:], " ")
	if first, there := values[d.Name]; there {
		if !d.Repeatable {
			return fmt.Errorf("%s: is there twice", d.Name)
		}
		value = first + "\n" + value
	}
	values[d.Name] = value
	return nil
}

// mergeLimits puts the classes that are given over those of the default: the server
// keeps the others as they are.
func mergeLimits(standard, given string) string {
	classes := limitsByClass(given)
	words := strings.Fields(standard)
	for i := 0; i+4 <= len(words); i += 4 {
		if own, there := classes[words[i]]; there {
			copy(words[i:], own)
		}
	}
	return strings.Join(words, " ")
}

// limitsByClass are the four words of each class.
func limitsByClass(value string) map[string][]string {
	classes := map[string][]string{}
	words := strings.Fields(value)
	for i := 0; i+4 <= len(words); i += 4 {
		classes[words[i]] = words[i : i+4]
	}
	return classes
}

// Change is one directive that a server is to be given.
type Change struct {
	// Name and Value are as CONFIG SET takes them.
	Name, Value string
	// Reset says that the file has no value, so that the table's default is it.
	Reset bool
}

// LiveNames are what a server of a version has to be asked for, sorted.
func LiveNames(version string, wanted map[string]string) []string {
	names := map[string]bool{}
	for name := range wanted {
		names[name] = true
	}
	for _, d := range directive.All(version) {
		if ours(d) {
			names[d.Name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// ours are directives that get their default back when the file has no value for them.
func ours(d directive.Directive) bool {
	return d.Class == directive.Live && d.Reserved == "" && !d.Secret && d.Name != save
}

// LiveChanges are what makes observed, the answer of a server of a version to CONFIG GET
// of LiveNames, what is wanted; sorted by name.
func LiveChanges(version string, wanted, observed map[string]string) []Change {
	var changes []Change
	for _, name := range LiveNames(version, wanted) {
		got, known := observed[name]
		want, asked := wanted[name]
		if asked {
			if !known || !same(version, name, want, got) {
				changes = append(changes, Change{Name: name, Value: want})
			}
			continue
		}
		d, _ := directive.Lookup(version, name)
		if !known || same(version, name, d.Default, got) || lowered(version, name, got) {
			continue
		}
		changes = append(changes, Change{Name: name, Value: d.Default, Reset: true})
	}
	return changes
}

// lowered is whether a server took a limit of clients back by itself.
func lowered(version, name, got string) bool {
	if name != maxclients {
		return false
	}
	d, _ := directive.Lookup(version, name)
	return len(got) < len(d.Default) || len(got) == len(d.Default) && got < d.Default
}

// same compares a canonical value with what a server printed.
func same(version, name, want, got string) bool {
	if want == got {
		return true
	}
	switch name {
	case events:
		return eventSet(want) == eventSet(got)
	case outputBuffer:
		return mergeLimits(got, want) == got
	case percentiles:
		return numbers(want) == numbers(got)
	}
	_, canonical, err := directive.Canonical(version, name, got)
	return err == nil && canonical == want
}

// allEvents is what the letter A stands for.
const allEvents = "g$lshzxetd"

// eventSet is each letter once, in order, with A taken apart.
func eventSet(value string) string {
	letters := []byte(strings.ReplaceAll(value, "A", allEvents))
	slices.Sort(letters)
	return string(slices.Compact(letters))
}

// numbers are words without the zeros at the end of a fraction.
func numbers(value string) string {
	words := strings.Fields(value)
	for i, word := range words {
		if strings.Contains(word, ".") {
			words[i] = strings.TrimSuffix(strings.TrimRight(word, "0"), ".")
		}
	}
	return strings.Join(words, " ")
}
