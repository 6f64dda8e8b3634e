// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package directive

import (
	"slices"
	"testing"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
)

func TestTableIsWhole(t *testing.T) {
	for _, version := range v1alpha1.Versions() {
		all := All(version)
		if len(all) < 170 {
			t.Errorf("%s has only %d directives", version, len(all))
		}
		for _, d := range all {
			if d.Reserved == "" && (d.Type == String || d.Type == Special) {
				t.Errorf("%s of %s: nobody can check its value", d.Name, version)
			}
			if d.Class != Live && d.Class != Restart {
				t.Errorf("%s of %s has the class %q", d.Name, version, d.Class)
			}
			if d.Reserved != "" || d.Repeatable || d.Type == Octal {
				continue
			}
			if err := Check(version, d.Name, d.Default); err != nil {
				t.Errorf("%s: the default is refused: %v", version, err)
			}
			if _, value, _ := Canonical(version, d.Name, d.Default); value != d.Default {
				t.Errorf("%s of %s: default %q, canonical %q", d.Name, version, d.Default, value)
			}
		}
	}
}

func TestLookupResolvesOldNamesInAnyCase(t *testing.T) {
	for _, c := range []struct{ version, name, want string }{
		{"9.1", "SLAVEOF", "replicaof"},
		{"9.1", "masterauth", "primaryauth"},
		{"8.0", "masteruser", "primaryuser"},
		{"8.0", "slowlog-max-len", "slowlog-max-len"},
		{"8.1", "slowlog-max-len", "commandlog-slow-execution-max-len"},
		{"9.0", "lua-time-limit", "busy-reply-threshold"},
		{"8.0", "bio_cpulist", "bio-cpulist"},
		{"9.1", "hash-max-ziplist-entries", "hash-max-listpack-entries"},
	} {
		if d, found := Lookup(c.version, c.name); !found || d.Name != c.want {
			t.Errorf("Lookup(%q, %q) = %q, %t", c.version, c.name, d.Name, found)
		}
	}
	if _, found := Lookup("7.2", "port"); found {
		t.Error("7.2 is supported")
	}
	d, _ := Lookup("9.1", "maxmemory-policy")
	d.Enum[0] = "changed"
	if again, _ := Lookup("9.1", "maxmemory-policy"); again.Enum[0] == "changed" {
		t.Error("the table can be changed by a caller")
	}
}

func TestClassOf(t *testing.T) {
	for name, want := range map[string]Class{
		"maxmemory": Live, "maxmemory-policy": Live, "io-threads": Live, "databases": Restart, "tcp-backlog": Restart,
		"activedefrag": Restart, "locale-collate": Restart, "oom-score-adj": Restart, "maxclients": Live,
		"tls-ciphers": Restart, "bio-cpulist": Restart, "nosuch": "",
	} {
		if got := ClassOf("9.1", name); got != want {
			t.Errorf("ClassOf(%q) = %q, want %q", name, got, want)
		}
	}
	if got := ClassOf("8.1", "io-threads"); got != Restart {
		t.Errorf("io-threads of 8.1 is %q", got)
	}
}

// What a version lacks of the one before, or has in addition, is listed here:
// names, and values of enums.
func TestVersionsContainEachOther(t *testing.T) {
	gone := map[string][]string{
		"8.1": {"dynamic-hz", "io-threads-do-reads", "slowlog-log-slower-than", "slowlog-max-len"},
		"9.0": nil,
		"9.1": {"events-per-io-thread", "sanitize-dump-payload"},
	}
	added := map[string][]string{
		"8.1": {
			"active-defrag-cycle-us", "cluster-manual-failover-timeout", "commandlog-execution-slower-than",
			"commandlog-large-reply-max-len", "commandlog-large-request-max-len", "commandlog-reply-larger-than",
			"commandlog-request-larger-than", "commandlog-slow-execution-max-len", "import-mode", "log-format",
			"log-timestamp-format", "lua-enable-deprecated-api", "lua-enable-insecure-api", "rdb-version-check",
			"rdma-bind", "rdma-completion-vector", "rdma-port", "rdma-rx-size",
		},
		"9.0": {
			"cluster-announce-client-port", "cluster-announce-client-tls-port", "cluster-databases",
			"cluster-slot-migration-log-max-len", "min-io-threads-avoid-copy-reply", "min-string-size-avoid-copy-reply",
			"min-string-size-avoid-copy-reply-threaded", "mptcp", "repl-mptcp", "slot-migration-max-failover-repl-bytes",
			"tls-auth-clients-user",
		},
		"9.1": {
			"cluster-config-save-behavior", "cluster-message-gossip-perc", "hash-seed", "io-threads-always-active",
			"tls-auto-reload-interval",
		},
	}
	for i, version := range v1alpha1.Versions()[1:] {
		before := v1alpha1.Versions()[i]
		var lacks, has []string
		for _, d := range All(before) {
			now, found := tables()[version][d.Name]
			if !found || now.Name != d.Name {
				lacks = append(lacks, d.Name)
			}
			for _, value := range d.Enum {
				if found && now.Name == d.Name && !slices.Contains(now.Enum, value) {
					t.Errorf("%s: %s has lost the value %s", version, d.Name, value)
				}
			}
			if found && now.Name == d.Name && (now.Min > d.Min || now.Max < d.Max) {
				t.Errorf("%s: %s has a smaller range", version, d.Name)
			}
		}
		for _, d := range All(version) {
			if old, found := tables()[before][d.Name]; !found || old.Name != d.Name {
				has = append(has, d.Name)
			}
		}
		if !slices.Equal(lacks, gone[version]) || !slices.Equal(has, added[version]) {
			t.Errorf("%s after %s: lacks %q, has %q more", version, before, lacks, has)
		}
	}
}

func TestReservedDirectivesHaveAReason(t *testing.T) {
	for _, name := range []string{
		"port", "bind", "dir", "aclfile", "requirepass", "user", "primaryauth", "primaryuser", "replicaof", "tls-port",
		"tls-cert-file", "tls-key-file", "cluster-enabled", "cluster-config-file", "cluster-announce-ip", "replica-announce-ip",
		"cluster-node-timeout", "cluster-allow-replica-migration", "appendonly", "daemonize", "supervised", "pidfile",
		"logfile", "unixsocket", "loadmodule", "include", "rename-command", "enable-protected-configs",
		"enable-debug-command", "enable-module-command", "protected-mode", "availability-zone", "shutdown-on-sigterm",
		"cluster-port", "sentinel",
	} {
		if d, found := Lookup("9.1", name); !found || d.Reserved == "" {
			t.Errorf("%s is not reserved", name)
		}
	}
	for _, name := range []string{"tls-ciphers", "tls-ciphersuites", "tls-session-caching", "tls-prefer-server-ciphers"} {
		if d, _ := Lookup("9.1", name); d.Reserved != "" || d.Class != Restart {
			t.Errorf("%s: reserved %q, class %s", name, d.Reserved, d.Class)
		}
	}
	if d, _ := Lookup("9.1", "save"); d.Conditional == "" || !d.Repeatable {
		t.Error("save is neither conditional nor repeatable")
	}
}

func TestReadTableRefusesBrokenText(t *testing.T) {
	if _, err := readTable([]byte("{")); err == nil {
		t.Error("broken JSON is accepted")
	}
}
