// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/valkey-render/valkey-render/internal/servertest"
)

// measured is what one server says about one directive.
type measured struct {
	fact
	// hidden directives answer CONFIG GET by name, not by "*".
	hidden bool
	// same are the names whose value changed together with this one's.
	same []string
	// refused are the values of a live directive that one way of setting it
	// accepts and the other refuses, with the server's words.
	refused []string
}

// probe is no value of any type but a string.
const probe = "zz_probe"

// measure asks one server about all its directives.
func measure(servers, version string) (map[string]measured, error) {
	shown, hidden, err := names(servers, version)
	if err != nil {
		return nil, err
	}
	var (
		mu    sync.Mutex
		errs  []error
		found = map[string]measured{}
		slots = make(chan struct{}, 4)
		group sync.WaitGroup
	)
	for _, name := range slices.Concat(shown, hidden) {
		group.Add(1)
		slots <- struct{}{}
		go func() {
			defer func() { <-slots; group.Done() }()
			m, err := measureOne(servers, version, name)
			m.hidden = slices.Contains(hidden, name)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				errs = append(errs, fmt.Errorf("%s %s: %w", version, name, err))
			}
			found[name] = m
		}()
	}
	group.Wait()
	return found, errors.Join(errs...)
}

// identifier is a string of the server's binary that may be a directive's name.
var identifier = regexp.MustCompile(`\x00[a-z][a-z0-9_-]{2,45}\x00`)

// names lists the directives that CONFIG GET * shows, and those it hides: every
// string of the binary is asked for by name.
func names(servers, version string) (shown, hidden []string, err error) {
	server, err := servertest.Launch(servers, version, servertest.Options{})
	if err != nil {
		return nil, nil, err
	}
	defer server.Stop()
	client, err := server.Dial()
	if err != nil {
		return nil, nil, err
	}
	defer client.Close()
	all, err := client.Config("*")
	if err != nil {
		return nil, nil, err
	}
	program, err := programFile(servers, version)
	if err != nil {
		return nil, nil, err
	}
	binary, err := os.ReadFile(program)
	if err != nil {
		return nil, nil, err
	}
	// Neighbours share a NUL, so that every second one would be missed.
	for _, match := range identifier.FindAll(bytes.ReplaceAll(binary, []byte{0}, []byte{0, 0}), -1) {
		name := strings.Trim(string(match), "\x00")
		if _, known := all[name]; known || slices.Contains(hidden, name) {
			continue
		}
		if answer, err := client.Config(name); err == nil && len(answer) == 1 {
			hidden = append(hidden, name)
		}
	}
	for name := range all {
		shown = append(shown, name)
	}
	slices.Sort(shown)
	slices.Sort(hidden)
	return shown, hidden, nil
}

// programFile is the server's binary: the file in root that the wrapper runs.
func programFile(servers, version string) (string, error) {
	wrapper, err := os.ReadFile(filepath.Join(servers, version, "bin", "valkey-server"))
	if err != nil {
		return "", err
	}
	words := regexp.MustCompile(`"([^"]+)"`).FindAllStringSubmatch(string(wrapper), -1)
	if len(words) < 2 {
		return "", fmt.Errorf("the wrapper of %s names no program", version)
	}
	return words[len(words)-2][1], nil
}

func measureOne(servers, version, name string) (measured, error) {
	var m measured
	server, err := servertest.Launch(servers, version, servertest.Options{})
	if err != nil {
		return m, err
	}
	defer server.Stop()
	before, err := server.Config("*")
	if err != nil {
		return m, err
	}
	own, err := server.Config(name)
	if err != nil {
		return m, err
	}
	// What the measurement itself sets has no default.
	if !slices.Contains([]string{"dir", "unixsocket", "bind", "port"}, name) {
		m.Default = own[name]
	}
	set := func(value string) string {
		_, err := server.Do("CONFIG", "SET", name, value)
		return words(err)
	}
	m.Class = "live"
	if said := set(probe); strings.Contains(said, "can't set immutable config") || strings.Contains(said, "can't set protected config") {
		m.Class = "restart"
		set = func(value string) string { return start(servers, version, name, value) }
	}
	m.Type, m.Enum = typeOf(set)
	if slices.Contains([]string{"integer", "memory", "memory-or-percent"}, m.Type) {
		if m.Min, m.Max, err = rangeOf(m.Type, set); err != nil {
			return m, err
		}
	}
	m.same = sameAs(servers, version, name, m.fact, before)
	if m.Class == "live" {
		m.refused = disagreements(servers, version, name, m.fact, set)
	}
	return m, nil
}

// words is what a server says without the words that every refusal starts with.
func words(err error) string {
	if err == nil {
		return ""
	}
	said := err.Error()
	if _, after, found := strings.Cut(said, "') - "); found {
		return after
	}
	return said
}

// start tries a value in an included file and returns the server's words.
func start(servers, version, name, value string) string {
	err := servertest.Try(servers, version, servertest.Options{
		Conf: "include more.conf\n", Files: map[string]string{"more.conf": name + " " + quote(value) + "\n"},
	})
	var refused *servertest.RefusedError
	if !errors.As(err, &refused) {
		return words(err)
	}
	lines := strings.Split(strings.TrimSpace(refused.Output), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ">>> ") && i+1 < len(lines) {
			return lines[i+1]
		}
	}
	return lines[len(lines)-1]
}

// quote makes one word of a config line; the generator asks for nothing that
// needs an escape.
func quote(value string) string { return `"` + value + `"` }

var oneOf = regexp.MustCompile(`must be one of the following: (.*)$`)

// typeOf reads the type from the refusal of a value that only a string accepts.
func typeOf(set func(string) string) (kind string, values []string) {
	said := set(probe)
	if found := oneOf.FindStringSubmatch(said); found != nil {
		values = strings.Split(found[1], ", ")
		for i, first := range values {
			for _, second := range values[i+1:] {
				if set(first+" "+second) == "" {
					return "flags", values
				}
			}
		}
		return "enum", values
	}
	for _, known := range [][2]string{
		{"'yes' or 'no'", "bool"},
		{"parsed into an integer", "integer"},
		{"memory or percent value", "memory-or-percent"},
		{"a memory value", "memory"},
		{"octal number", "octal"},
	} {
		if strings.Contains(said, known[0]) {
			return known[1], nil
		}
	}
	if said == "" {
		return "string", nil
	}
	return "special", nil
}

var between = regexp.MustCompile(`between (-?\d+) and (-?\d+) inclusive`)

// rangeOf reads the range from the refusal of the largest and the least value that
// parse; where neither is refused, they are the range.
func rangeOf(kind string, set func(string) string) (least int64, most uint64, err error) {
	low, high := "-9223372036854775808", "9223372036854775807"
	if kind != "integer" {
		low, high = "0", "18446744073709551615"
	}
	for _, value := range []string{high, low} {
		said := set(value)
		if found := between.FindStringSubmatch(said); found != nil {
			if least, err = strconv.ParseInt(found[1], 10, 64); err != nil {
				return 0, 0, err
			}
			// An unsigned maximum is printed as a signed number.
			if signed, err := strconv.ParseInt(found[2], 10, 64); err == nil && signed < 0 {
				most = uint64(signed)
			} else if most, err = strconv.ParseUint(found[2], 10, 64); err != nil {
				return 0, 0, err
			}
			return least, most, nil
		}
		if said != "" && kind == "integer" && !strings.Contains(said, "parsed") {
			return 0, 0, fmt.Errorf("value %s: %s", value, said)
		}
	}
	least, _ = strconv.ParseInt(low, 10, 64)
	most, err = strconv.ParseUint(high, 10, 64)
	return least, most, err
}
