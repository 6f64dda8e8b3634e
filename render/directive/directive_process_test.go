// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package directive_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/valkey-render/valkey-render/internal/servertest"
	"github.com/valkey-render/valkey-render/render/directive"
)

// samples are values that a directive should take: the default, both ends and some
// numbers between them, every word, and hand-picked ones for the other syntaxes.
func samples(d directive.Directive, random *rand.Rand) []string {
	values := []string{d.Default}
	between := func() uint64 {
		low := uint64(max(d.Min, 0))
		// Small numbers are as likely as large ones.
		return low + random.Uint64N(max(1, (d.Max-low)>>random.UintN(64)))
	}
	switch d.Type {
	case directive.Bool:
		return []string{"yes", "no", "YES"}
	case directive.Enum:
		return append(values, d.Enum...)
	case directive.Flags:
		for _, first := range d.Enum {
			for _, second := range d.Enum {
				values = append(values, first+" "+second)
			}
		}
	case directive.Integer:
		values = append(values, strconv.FormatInt(d.Min, 10), strconv.FormatUint(d.Max, 10))
		for range 4 {
			values = append(values, strconv.FormatUint(between(), 10))
		}
	case directive.Memory, directive.MemoryOrPercent:
		values = append(values, strconv.FormatInt(d.Min, 10), strconv.FormatUint(d.Max, 10), "2mb", "3G", "7000001B", "2000k", "3m", "1%", "50%", "100%")
		for range 4 {
			values = append(values, strconv.FormatUint(between(), 10))
		}
	case directive.Save:
		values = append(values, "", "1 0", "3600 1\n300 100\n60 10000", "2147483647 2147483647", "900 1 300 10")
	case directive.OutputBufferLimit:
		values = append(values, "normal 1gb 512mb 60", "replica 0 0 0\npubsub 1 2 3", "slave 9223372036854775807 1 2147483647", "NORMAL 1k 1K 0")
	case directive.KeyspaceEvents:
		values = append(values, "", "KEA", "Kg", "E$lshzxetdmn", "AKE", "Km", "n")
	case directive.Percentiles:
		values = append(values, "", "0", "100", "50 99 99.9", "0.000000000000001", "001 099.5")
	}
	return values
}

// accepted are the samples of a version's directives of a class.
func accepted(version string, class directive.Class) map[string][]string {
	result := map[string][]string{}
	random := rand.New(rand.NewPCG(1, 2))
	for _, d := range directive.All(version) {
		if d.Class != class || d.Reserved != "" {
			continue
		}
		for _, value := range samples(d, random) {
			if directive.Check(version, d.Name, value) == nil {
				result[d.Name] = append(result[d.Name], value)
			}
		}
	}
	return result
}

// same compares what CONFIG GET says with what was asked: a limit for some classes
// of clients leaves the others as they were.
func same(t *testing.T, version, name, asked, got string) bool {
	t.Helper()
	_, want, err := directive.Canonical(version, name, asked)
	if err != nil {
		t.Fatal(err)
	}
	if name == "client-output-buffer-limit" {
		return strings.Contains(got+" ", want+" ") || len(strings.Fields(want)) > 4
	}
	if name == "notify-keyspace-events" {
		return sorted(strings.ReplaceAll(got, "A", "g$lshzxetd")) == sorted(strings.ReplaceAll(want, "A", "g$lshzxetd"))
	}
	if name == "latency-tracking-info-percentiles" {
		return len(strings.Fields(got)) == len(strings.Fields(want))
	}
	return got == want
}

// sorted is the letters of a text, each once.
func sorted(text string) string {
	letters := []byte(text)
	slices.Sort(letters)
	return string(slices.Compact(letters))
}

func TestProcessServersTakeAcceptedValuesLive(t *testing.T) {
	t.Parallel()
	for _, version := range servertest.Versions() {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			server := servertest.Start(t, version, servertest.Options{})
			tried := 0
			values := accepted(version, directive.Live)
			// More than this machine's limit of open files may allow: see its note.
			values["maxclients"] = []string{"100", "1000"}
			for _, name := range slices.Sorted(maps.Keys(values)) {
				d, _ := directive.Lookup(version, name)
				for _, value := range append(values[name], d.Default) {
					_, canonical, err := directive.Canonical(version, name, value)
					if err != nil {
						t.Fatal(err)
					}
					if _, err := server.Do("CONFIG", "SET", name, canonical); err != nil {
						t.Errorf("CONFIG SET %s %q: %v", name, value, err)
						continue
					}
					config, err := server.Config(name)
					if err != nil || !same(t, version, name, value, config[name]) {
						t.Errorf("%s %q is then %q, %v", name, value, config[name], err)
					}
					tried++
				}
			}
			t.Logf("%d values of %d directives", tried, len(values))
		})
	}
}

// TestProcessServersStartWithAcceptedValues starts each server with the first
// sample of every directive in one included file, then with the second, and so on,
// as a standalone server and as a cluster node.
func TestProcessServersStartWithAcceptedValues(t *testing.T) {
	t.Parallel()
	for _, version := range servertest.Versions() {
		for _, class := range []directive.Class{directive.Live, directive.Restart} {
			t.Run(version+"/"+string(class), func(t *testing.T) {
				t.Parallel()
				values := accepted(version, class)
				delete(values, "activedefrag")
				delete(values, "socket-mark-id")
				// They are host's and image's matters: see their notes.
				delete(values, "locale-collate")
				// A start lowers what the machine does not allow, and one is too few for
				// this test, which needs a second connection.
				delete(values, "maxclients")
				rounds := 0
				for _, list := range values {
					rounds = max(rounds, len(list))
				}
				for round := range min(rounds, 14) {
					asked := map[string]string{}
					for name, list := range values {
						asked[name] = list[round%len(list)]
					}
					startWith(t, version, asked)
				}
			})
		}
	}
}

func startWith(t *testing.T, version string, asked map[string]string) {
	t.Helper()
	var file strings.Builder
	for _, name := range slices.Sorted(maps.Keys(asked)) {
		line, err := directive.Line(name, asked[name])
		if err != nil {
			t.Fatal(err)
		}
		file.WriteString(line + "\n")
	}
	for _, cluster := range []string{"no", "yes"} {
		server, err := servertest.Launch(servertest.Dir(t), version, servertest.Options{
			Conf: "include more.conf\n", Files: map[string]string{"more.conf": file.String()},
			Args: []string{"--cluster-enabled", cluster}, TCP: true,
		})
		if err != nil {
			t.Errorf("cluster %s: %v\n%s", cluster, err, file.String())
			continue
		}
		client, err := server.Dial()
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range asked {
			config, err := client.Config(name)
			if err != nil {
				t.Error(err)
			}
			// A start lowers the one to what the host allows, the other to 1.
			lowered := name == "maxclients" || name == "databases" && cluster == "yes"
			if !lowered && !same(t, version, name, value, config[name]) {
				t.Errorf("%s %q is then %q", name, value, config[name])
			}
		}
		server.Stop()
	}
}

// TestProcessServersRefuseRefusedNumbers shows that the ranges are no narrower than
// the servers' own, unless the table says why.
func TestProcessServersRefuseRefusedNumbers(t *testing.T) {
	t.Parallel()
	for _, version := range servertest.Versions() {
		server := servertest.Start(t, version, servertest.Options{})
		for _, d := range directive.All(version) {
			if d.Class != directive.Live || d.Reserved != "" || d.Type != directive.Integer || d.Name == "hz" {
				// hz is taken and then brought into its range.
				continue
			}
			var outside []string
			if d.Max < 1<<63-1 {
				outside = append(outside, strconv.FormatUint(d.Max+1, 10))
			}
			if d.Min > -1<<63 {
				outside = append(outside, strconv.FormatInt(d.Min-1, 10))
			}
			for _, value := range append(outside, "x", "01", "+1", "1 ", "") {
				if directive.Check(version, d.Name, value) == nil {
					t.Errorf("%s: %s %q is accepted", version, d.Name, value)
				}
				if _, err := server.Do("CONFIG", "SET", d.Name, value); err == nil {
					t.Errorf("%s: the server takes %s %q", version, d.Name, value)
				}
			}
		}
	}
}

// FuzzProcessLine asks a real server what it understood: either Line refuses the
// value, or the server has exactly this value and nothing else has changed.
func FuzzProcessLine(f *testing.F) {
	for _, value := range []string{
		"", "a", "a b", `a"b`, `\`, `"`, `'`, "a\nport 1", "a\x00b", "#", "é", `\x41`, `a\n`, `" "port" "1`, "\t", " a ", "\u3000",
	} {
		f.Add(uint8(0), value)
		f.Add(uint8(1), value)
		f.Add(uint8(2), value)
	}
	f.Add(uint8(5), "3600 1\n60 2")
	dir := servertest.Dir(f)
	baseline := map[string]map[string]string{}
	for _, version := range servertest.Versions() {
		config, err := configOf(dir, version, "")
		if err != nil {
			f.Fatal(err)
		}
		baseline[version] = config
	}
	f.Fuzz(func(t *testing.T, which uint8, value string) {
		version := servertest.Versions()[int(which)%3]
		name := []string{"syslog-ident", "save"}[int(which)/3%2]
		line, err := directive.Line(name, value)
		if err != nil || name == "save" && directive.Check(version, name, value) != nil {
			return
		}
		config, err := configOf(dir, version, line)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		_, want, err := directive.Canonical(version, name, value)
		if err != nil {
			t.Fatal(err)
		}
		expected := maps.Clone(baseline[version])
		expected[name] = want
		if diff := cmp.Diff(expected, config); diff != "" {
			t.Fatalf("%q: %s", line, diff)
		}
	})
}

// configOf is the whole configuration of a server that read one line.
func configOf(dir, version, line string) (map[string]string, error) {
	server, err := servertest.Launch(dir, version, servertest.Options{Conf: line + "\n"})
	var refused *servertest.RefusedError
	if errors.As(err, &refused) {
		return nil, fmt.Errorf("the server refuses it: %w", err)
	}
	if err != nil {
		return nil, err
	}
	defer server.Stop()
	config, err := server.Config("*")
	delete(config, "dir")
	delete(config, "unixsocket")
	return config, err
}
