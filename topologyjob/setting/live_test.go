// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package setting

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/directive"
)

func file(version string, lines ...string) string {
	return strings.Join(append(lines, liveEnd(version)), "\n") + "\n"
}

func TestParseLive(t *testing.T) {
	got, err := ParseLive("9.1", file("9.1",
		"# memory", "maxmemory 100mb", "slowlog-log-slower-than 5", "save 3600 1", "save 60 100", "",
		"client-output-buffer-limit replica 1mb 2mb 3", "cluster-node-timeout 2000", "appendfsync EVERYSEC", `notify-keyspace-events ""`))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"maxmemory": "104857600", "commandlog-execution-slower-than": "5", "save": "3600 1 60 100",
		"client-output-buffer-limit": "normal 0 0 0 slave 1048576 2097152 3 pubsub 33554432 8388608 60",
		"cluster-node-timeout":       "2000", "appendfsync": "everysec", "notify-keyspace-events": "",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestParseLiveRefuses(t *testing.T) {
	for name, c := range map[string]struct{ text, words string }{
		"no end":            {"maxmemory 1\n", "does not end with"},
		"emptied":           {"", "does not end with"},
		"another's end":     {file("8.0", "maxmemory 1"), "does not end with"},
		"end within a line": {"maxmemory 1" + liveEnd("9.1"), "does not end with"},
		"unknown":           {file("9.1", "no-such 1"), "no-such: unknown to Valkey 9.1"},
		"a restart":         {file("9.1", "databases 3"), "databases: takes a restart"},
		"a secret":          {file("9.1", "primaryauth hunter2"), "primaryauth: belongs in a Secret"},
		"twice":             {file("9.1", "maxmemory 1", "maxmemory 2"), "maxmemory: is there twice"},
		"twice by names":    {file("9.1", "min-slaves-to-write 1", "min-replicas-to-write 1"), "is there twice"},
		"no value":          {file("9.1", "maxmemory"), "maxmemory: has no value"},
		"wrong value":       {file("9.1", "maxmemory lots"), "maxmemory: value"},
		"open quote":        {file("9.1", `maxmemory "1`), "a quote is not closed"},
	} {
		_, err := ParseLive("9.1", c.text)
		if err == nil || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: %v, want %q", name, err, c.words)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: the error tells the password", name)
		}
	}
}

func TestLiveChanges(t *testing.T) {
	for name, c := range map[string]struct {
		wanted, observed map[string]string
		want             []Change
	}{
		"nothing":                    {nil, map[string]string{"maxmemory": "0"}, nil},
		"a value":                    {map[string]string{"maxmemory": "1"}, map[string]string{"maxmemory": "0"}, []Change{{Name: "maxmemory", Value: "1"}}},
		"no longer in the file":      {nil, map[string]string{"maxmemory": "5"}, []Change{{Name: "maxmemory", Value: "0", Reset: true}}},
		"a server that lacks it":     {map[string]string{"hz": "5"}, nil, []Change{{Name: "hz", Value: "5"}}},
		"reserved ones are not ours": {nil, map[string]string{"cluster-node-timeout": "99", "primaryauth": "x"}, nil},
		"save is the template's":     {nil, map[string]string{"save": ""}, nil},
		"what only a start sets":     {nil, map[string]string{"databases": "3"}, nil},
		"a server with few files":    {nil, map[string]string{"maxclients": "4064"}, nil},
		"more clients than default":  {nil, map[string]string{"maxclients": "20000"}, []Change{{Name: "maxclients", Value: "10000", Reset: true}}},
		"letters in another order":   {map[string]string{"notify-keyspace-events": "KEA"}, map[string]string{"notify-keyspace-events": "AKE"}, nil},
		"letters that A stands for":  {map[string]string{"notify-keyspace-events": "KEg$lshzxetd"}, map[string]string{"notify-keyspace-events": "AKE"}, nil},
		"other letters":              {map[string]string{"notify-keyspace-events": "KEA"}, map[string]string{"notify-keyspace-events": "AE"}, []Change{{Name: "notify-keyspace-events", Value: "KEA"}}},
	} {
		if diff := cmp.Diff(c.want, LiveChanges("9.1", c.wanted, c.observed)); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
}

// TestLiveNamesAreLive: nothing that takes a restart, is secret or is the renderer's is
// asked for.
func TestLiveNamesAreLive(t *testing.T) {
	for _, version := range v1alpha1.Versions() {
		for _, name := range LiveNames(version, nil) {
			d, _ := directive.Lookup(version, name)
			if d.Class != directive.Live || d.Reserved != "" || d.Secret {
				t.Errorf("%s: %s is asked for", version, name)
			}
		}
	}
}

func FuzzParseLive(f *testing.F) {
	f.Add("maxmemory 100mb\nsave 3600 1\nsave \"60 5\"\nclient-output-buffer-limit normal 0 0 0\n")
	f.Add("notify-keyspace-events \"K\\\"\\\\\"\n# x\n\n")
	f.Fuzz(func(t *testing.T, body string) {
		values, err := ParseLive("9.1", body+"\n"+liveEnd("9.1")+"\n")
		if err != nil {
			return
		}
		// What was read, written again, reads the same, and is no difference to itself.
		var lines []string
		for _, name := range slices.Sorted(maps.Keys(values)) {
			line, err := directive.Line(name, values[name])
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, line)
		}
		again, err := ParseLive("9.1", file("9.1", lines...))
		if err != nil {
			t.Fatalf("%q: %v", lines, err)
		}
		if diff := cmp.Diff(values, again); diff != "" {
			t.Errorf("%q: -first +again\n%s", body, diff)
		}
		for _, change := range LiveChanges("9.1", values, values) {
			t.Errorf("%q: differs from itself: %+v", body, change)
		}
	})
}
