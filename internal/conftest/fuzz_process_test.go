// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package conftest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/internal/servertest"
	"github.com/valkey-render/valkey-render/render/conf"
	"github.com/valkey-render/valkey-render/render/directive"
)

// FuzzProcessConfig: whatever spec.config holds, either conf.Check refuses it, or a
// server that reads what is rendered has exactly the values asked for, and every other
// value as without spec.config. text is a value, or a name, that nobody would write.
func FuzzProcessConfig(f *testing.F) {
	for i, text := range []string{
		"", "a", "a b", `a"b`, `"`, `\`, `'`, "a\nport 1", "a\r\nport 1", "a\x00b", "#", "é", `\x41`, `" "port" "1`, "\t", " a ",
		"1", "-1", "0", "1gb", "yes", "3600 1\n300 10", "normal 0 0 0\nreplica 1 1 1", "\u2028", "$(POD_IP)", "include /etc/passwd",
	} {
		f.Add(uint64(i), text)
		f.Add(uint64(i+1000), text)
	}
	baselines := map[string]map[string]string{}
	for _, version := range servertest.Versions() {
		for _, topology := range topologies() {
			config, err := effective(servertest.Dir(f), clusterOf(version, topology, nil))
			if err != nil {
				f.Fatal(err)
			}
			baselines[version+string(topology)] = config
		}
	}
	f.Fuzz(func(t *testing.T, seed uint64, text string) {
		r := rand.New(rand.NewPCG(seed, 0))
		version := servertest.Versions()[r.IntN(len(servertest.Versions()))]
		topology := topologies()[r.IntN(len(topologies()))]
		c := clusterOf(version, topology, randomConfig(r, version, text))
		for _, e := range conf.Check(c) {
			key, found := strings.CutPrefix(e.Field, "spec.config[")
			if !found {
				return
			}
			delete(c.Spec.Config, strings.TrimSuffix(key, "]"))
		}
		if errs := conf.Check(c); len(errs) > 0 {
			t.Fatalf("%q: less what was refused, it is refused again: %v", c.Spec.Config, errs)
		}
		got, err := effective(servertest.Dir(t), c)
		if err != nil {
			t.Fatalf("%s %s: %q: %v", version, topology, c.Spec.Config, err)
		}
		want := expected(t, c, baselines[version+string(topology)])
		if diff := cmp.Diff(normal(want), normal(got)); diff != "" {
			t.Fatalf("%s %s: %q (-asked +got)\n%s", version, topology, c.Spec.Config, diff)
		}
	})
}

func topologies() []v1alpha1.Topology {
	return []v1alpha1.Topology{v1alpha1.TopologyStandalone, v1alpha1.TopologyReplication}
}

func clusterOf(version string, topology v1alpha1.Topology, config map[string]string) *v1alpha1.ValkeyCluster {
	c := &v1alpha1.ValkeyCluster{}
	c.Name = "fuzz"
	c.Spec.Version, c.Spec.Topology, c.Spec.Config = version, topology, config
	c.Default()
	return c
}

// randomConfig has one to four directives of the table, or text for a name.
func randomConfig(r *rand.Rand, version, text string) map[string]string {
	// The servers of distributions are built without what activedefrag needs; those of
	// the images have it. maxclients ends where the limit of open files is.
	all := slices.DeleteFunc(directive.All(version), func(d directive.Directive) bool {
		return d.Name == "activedefrag" || d.Name == "maxclients"
	})
	config := map[string]string{}
	for range 1 + r.IntN(4) {
		d := all[r.IntN(len(all))]
		name := d.Name
		switch r.IntN(12) {
		case 0:
			name = strings.ToUpper(name)
		case 1:
			name = name + text
		case 2:
			name = text
		case 3:
			if len(d.Aliases) > 0 {
				name = d.Aliases[r.IntN(len(d.Aliases))]
			}
		}
		config[name] = randomValue(r, d, text)
	}
	return config
}

func randomValue(r *rand.Rand, d directive.Directive, text string) string {
	choices := []string{text, text, d.Default, d.Default + text, strconv.Itoa(r.IntN(200)), text + "\n"}
	choices = append(choices, d.Enum...)
	if d.Type == directive.Integer || d.Type == directive.Memory {
		choices = append(choices, strconv.FormatInt(d.Min, 10), strconv.FormatUint(d.Max, 10))
	}
	if d.Type == directive.Bool {
		choices = append(choices, "yes", "no", "YES")
	}
	return choices[r.IntN(len(choices))]
}

// effective is the whole configuration of a server that runs with what a pod of c
// would read.
func effective(servers string, c *v1alpha1.ValkeyCluster) (map[string]string, error) {
	text, err := conf.Server(c)
	if err != nil {
		return nil, fmt.Errorf("accepted, and not rendered: %w", err)
	}
	live, err := conf.Live(c, c.ServerVersion())
	if err != nil {
		return nil, fmt.Errorf("accepted, and not rendered: %w", err)
	}
	server, err := servertest.Launch(servers, c.ServerVersion(), servertest.Options{
		Conf: local(text), Files: map[string]string{"live.conf": live, "auth.conf": ""},
	})
	if err != nil {
		return nil, err
	}
	defer server.Stop()
	return server.Config("*")
}

// expected is the baseline with what spec.config asks for, under every name that the
// server has for a directive.
func expected(t *testing.T, c *v1alpha1.ValkeyCluster, baseline map[string]string) map[string]string {
	want := maps.Clone(baseline)
	for given, value := range c.Spec.Config {
		called, canonical, err := directive.Canonical(c.ServerVersion(), given, strings.TrimRight(value, "\n"))
		if err != nil {
			t.Fatal(err)
		}
		for key := range want {
			if d, known := directive.Lookup(c.ServerVersion(), key); known && d.Name == called {
				want[key] = canonical
			}
		}
	}
	return want
}

// normal takes out what differs between servers, and the order that a server has of
// its own for flags.
func normal(config map[string]string) map[string]string {
	out := maps.Clone(config)
	for _, own := range []string{"dir", "unixsocket"} {
		delete(out, own)
	}
	letters := []byte(out["notify-keyspace-events"])
	slices.Sort(letters)
	out["notify-keyspace-events"] = string(letters)
	return out
}
