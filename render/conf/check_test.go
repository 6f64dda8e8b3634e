// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package conf_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/internal/golden"
	"github.com/valkey-render/valkey-render/render/conf"
	"github.com/valkey-render/valkey-render/render/directive"
)

func TestCheckReportsEveryFaultWithItsPlace(t *testing.T) {
	for _, dir := range cases(t, "check", "errors.txt") {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			var out strings.Builder
			for _, err := range conf.Check(read(t, dir)) {
				fmt.Fprintf(&out, "%s %s\n", err.Origin, err)
			}
			if strings.Contains(out.String(), "hunter2") {
				t.Errorf("a secret is in the errors:\n%s", out.String())
			}
			if out.Len() == 0 {
				t.Error("no error")
			}
			golden.File(t, filepath.Join(dir, "errors.txt"), []byte(out.String()))
		})
	}
}

func TestMemoryLimitDoesNotMatterBesideMaxmemory(t *testing.T) {
	c := read(t, filepath.Join("testdata", "check", "memory-limit-too-small"))
	c.Spec.Config = map[string]string{"MAXMEMORY": "8mb\n"}
	if errs := conf.Check(c); len(errs) > 0 {
		t.Error(errs.ToAggregate())
	}
	if bytes, ok := conf.Maxmemory(c); !ok || bytes != 8<<20 {
		t.Errorf("Maxmemory = %d, %v", bytes, ok)
	}
}

// TestTextsAreNotWrittenAroundAFault: nobody need have called Check.
func TestTextsAreNotWrittenAroundAFault(t *testing.T) {
	c := &v1alpha1.ValkeyCluster{}
	c.Spec.Topology = v1alpha1.TopologySentinel
	c.Default()
	c.Spec.Config = map[string]string{
		"syslog-ident": "a\nrequirepass x", "proc-title-template": "\x00", "Port": "1", "nonsense": "x", "maxmemory-policy": "x\ny",
	}
	c.Spec.Sentinel = &v1alpha1.SentinelSpec{Config: map[string]string{"failover-timeout": "1\nrequirepass x"}}
	text, err := conf.Server(c)
	if err == nil || !strings.Contains(err.Error(), "proc-title-template") {
		t.Errorf("Server = %q, %v", text, err)
	}
	if text, err := conf.Sentinel(c); err == nil {
		t.Errorf("Sentinel = %q", text)
	}
	// What a version does not take is in no live file.
	live, err := conf.Live(c, "9.1")
	if err != nil || strings.Contains(live, "requirepass") || strings.Contains(live, "nonsense") || strings.Contains(live, "port") {
		t.Errorf("Live = %q, %v", live, err)
	}
}

func TestMaxmemoryFollowsTheLimit(t *testing.T) {
	for _, c := range []struct {
		name    string
		cluster func(*v1alpha1.ValkeyCluster)
		limit   string
		want    int64
	}{
		{"quarter of a gibibyte less 16 and 8 MiB", nil, "256Mi", 192 - 16 - 8},
		{"no backlog alone", func(c *v1alpha1.ValkeyCluster) { c.Spec.Topology = v1alpha1.TopologyStandalone }, "256Mi", 192 - 8},
		{"own percentage", func(c *v1alpha1.ValkeyCluster) {
			c.Spec.Memory = &v1alpha1.MemorySpec{MaxmemoryPercent: ptr(int32(50))}
		}, "256Mi", 128 - 16 - 8},
		{"own backlog", func(c *v1alpha1.ValkeyCluster) { c.Spec.Config = map[string]string{"repl-backlog-size": "32mb"} }, "256Mi", 192 - 32 - 8},
		{"buffers end at 256 and 128 MiB", nil, "64Gi", 48*1024 - 256 - 128},
		{"never less than 4 MiB", nil, "8Mi", 4},
		{"decimal units", nil, "1G", 626},
	} {
		t.Run(c.name, func(t *testing.T) {
			cluster := withLimit(c.limit)
			if c.cluster != nil {
				c.cluster(cluster)
			}
			cluster.Default()
			bytes, ok := conf.Maxmemory(cluster)
			if !ok || bytes != c.want<<20 {
				t.Errorf("Maxmemory = %d MiB, %v, want %d", bytes>>20, ok, c.want)
			}
		})
	}
}

func TestMaxmemoryOfZeroIsNoLimit(t *testing.T) {
	for _, value := range []string{"0", "nonsense", "18446744073709551615"} {
		c := withLimit("1Gi")
		c.Spec.Config = map[string]string{"maxmemory": value}
		if bytes, ok := conf.Maxmemory(c); ok {
			t.Errorf("maxmemory %s: %d, want no limit", value, bytes)
		}
	}
}

func TestStartupBudgetGrowsWithTheData(t *testing.T) {
	last := int32(0)
	for _, limit := range []string{"64Mi", "4Gi", "32Gi", "64Gi", "10Ti"} {
		c := withLimit(limit)
		c.Default()
		seconds := conf.StartupBudgetSeconds(c)
		if seconds <= last || seconds < 120 || seconds > 86400 {
			t.Errorf("%s: %d s after %d s", limit, seconds, last)
		}
		last = seconds
	}
	c := withLimit("0")
	c.Spec.Profile = v1alpha1.ProfileDurable
	c.Spec.Storage = &v1alpha1.StorageSpec{}
	c.Default()
	if seconds := conf.StartupBudgetSeconds(c); seconds != 60+3*1024 {
		t.Errorf("volume of 10Gi without a limit: %d s", seconds)
	}
}

// TestOursCannotBeAskedForTwice: what Server and Args say may not be in spec.config
// too, where the one later in the file would win.
func TestOursCannotBeAskedForTwice(t *testing.T) {
	for _, dir := range cases(t, "text", "expected.txt") {
		c := read(t, dir)
		c.Spec.Config = nil
		text, err := conf.Server(c)
		if err != nil {
			t.Fatal(err)
		}
		names := map[string]bool{}
		for line := range strings.Lines(text) {
			if name, _, found := strings.Cut(line, " "); found && name != "#" {
				names[name] = true
			}
		}
		args := conf.Args(c)
		for i := 0; i < len(args); i += 2 {
			names[strings.TrimPrefix(args[i], "--")] = true
		}
		for name := range names {
			d, known := directive.Lookup(c.ServerVersion(), name)
			if !known || d.Reserved == "" && name != "save" {
				t.Errorf("%s: known %v, reserved %q", name, known, d.Reserved)
			}
		}
	}
}

func ptr[T any](v T) *T { return &v }
