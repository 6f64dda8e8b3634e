// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package directive_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/valkey-render/valkey-render/internal/servertest"
	"github.com/valkey-render/valkey-render/render/directive"
)

// reservedSentinelValues are words for the directives that the renderer writes, or
// that Sentinel itself does.
func reservedSentinelValues(name string) []string {
	id := strings.Repeat("0a", 20)
	return map[string][]string{
		"announce-ip": {"127.0.0.1"}, "announce-port": {"26379"}, "myid": {id}, "sentinel-user": {"_sentinel"},
		"sentinel-pass": {`a "b" \c`}, "auth-user": {"_sentinel"}, "auth-pass": {`a "b" \c`}, "notification-script": {"/bin/sh"},
		"client-reconfig-script": {"/bin/sh"}, "rename-command": {"CONFIG", "other"}, "known-replica": {"127.0.0.1", "2"},
		"known-slave": {"127.0.0.1", "3"}, "known-sentinel": {"127.0.0.1", "4", strings.Repeat("1b", 20)}, "config-epoch": {"1"},
		"leader-epoch": {"1"}, "current-epoch": {"1"}, "down-after-milliseconds": {"5000"}, "resolve-hostnames": {"yes"},
		"announce-hostnames": {"yes"}, "deny-scripts-reconfig": {"no"},
	}[name]
}

func TestProcessSentinelStartsWithTheTable(t *testing.T) {
	t.Parallel()
	for _, version := range servertest.Versions() {
		for _, end := range []string{"first", "last"} {
			lines := []string{}
			add := func(name string, words ...string) {
				line, err := directive.SentinelWords("mymaster", name, words...)
				if err != nil {
					t.Fatal(err)
				}
				lines = append(lines, line)
			}
			// The master comes first, or nothing may be said of it.
			add("monitor", "127.0.0.1", "1", "2")
			for _, d := range directive.AllSentinel(version) {
				words := []string{d.Default}
				switch {
				case d.Name == "monitor":
					continue
				case d.Reserved != "":
					words = reservedSentinelValues(d.Name)
				case d.Type == directive.Integer && d.Name != "maxclients":
					words = []string{strconv.FormatInt(d.Min, 10)}
					if end == "last" {
						words = []string{strconv.FormatUint(d.Max, 10)}
					}
				case d.Type == directive.Enum:
					words = []string{d.Enum[len(d.Enum)-1]}
				}
				if words == nil {
					t.Fatalf("no words for %s", d.Name)
				}
				if d.Reserved == "" && directive.CheckSentinel(version, d.Name, words[0]) != nil {
					t.Errorf("%s: %s %q is refused", version, d.Name, words[0])
				}
				add(d.Name, words...)
			}
			server := servertest.Start(t, version, servertest.Options{Sentinel: true, Conf: strings.Join(lines, "\n") + "\n"})
			reply, err := server.Do("SENTINEL", "MASTER", "mymaster")
			if err != nil {
				t.Fatalf("%s: %v", version, err)
			}
			fields := reply.([]any)
			want := map[string]string{"first": "1", "last": "2147483647"}[end]
			for _, name := range []string{"failover-timeout", "parallel-syncs"} {
				if i := slices.Index(fields, any(name)); i < 0 || fields[i+1] != want {
					t.Errorf("%s: %s is not %s in %v", version, name, want, fields)
				}
			}
		}
	}
}

func TestProcessSentinelRefusesUnknownDirectives(t *testing.T) {
	t.Parallel()
	for _, version := range servertest.Versions() {
		for _, line := range []string{"sentinel nosuch 1", "sentinel failover-timeout mymaster 0", "sentinel parallel-syncs nosuch 1"} {
			conf := "sentinel monitor mymaster 127.0.0.1 1 1\n" + line + "\n"
			if err := servertest.Try(servertest.Dir(t), version, servertest.Options{Sentinel: true, Conf: conf}); err == nil {
				t.Errorf("%s takes %q", version, line)
			}
		}
	}
}
