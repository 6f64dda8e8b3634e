// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package directive

import (
	"errors"
	"strings"
	"testing"
)

func TestCheckAcceptsAndCanonicalPrintsAsTheServer(t *testing.T) {
	for _, c := range []struct{ version, name, value, want string }{
		{"9.1", "maxmemory", "100mb", "104857600"},
		{"9.1", "maxmemory", "1G", "1000000000"},
		{"9.1", "maxmemory", "12b", "12"},
		{"9.1", "MaxMemory-Policy", "ALLKEYS-lru", "allkeys-lru"},
		{"9.1", "maxmemory-clients", "5%", "5%"},
		{"9.1", "maxmemory-clients", "1kb", "1024"},
		{"9.1", "lazyfree-lazy-expire", "NO", "no"},
		{"9.1", "list-max-listpack-size", "-2", "-2"},
		{"9.1", "slowlog-log-slower-than", "-1", "-1"},
		{"9.1", "maxclients", "1000000", "1000000"},
		{"9.1", "save", "3600 1\n300 100", "3600 1 300 100"},
		{"9.1", "save", "3600 1 300 100", "3600 1 300 100"},
		{"9.1", "save", "", ""},
		{"9.1", "client-output-buffer-limit", "replica 256mb 64mb 60\nnormal 0 0 0", "normal 0 0 0 slave 268435456 67108864 60"},
		{"9.1", "client-output-buffer-limit", "PubSub 1 1 1 slave 2 2 2", "slave 2 2 2 pubsub 1 1 1"},
		{"9.1", "shutdown-on-sigint", "nosave failover now", "nosave now failover"},
		{"9.1", "shutdown-on-sigint", "default", "default"},
		{"9.1", "oom-score-adj-values", "0 200 800", "0 200 800"},
		{"9.1", "notify-keyspace-events", "KEA", "KEA"},
		{"9.1", "latency-tracking-info-percentiles", "50  99.9", "50 99.9"},
		{"9.1", "bio-cpulist", "0-7:2,9", "0-7:2,9"},
		{"9.1", "proc-title-template", "{title} {port}", "{title} {port}"},
		{"9.1", "tls-ciphers", "HIGH:!aNULL", "HIGH:!aNULL"},
		{"9.1", "syslog-ident", `a "b" \c é`, `a "b" \c é`},
		{"9.1", "locale-collate", "", ""},
		{"9.1", "log-format", "json", "json"},
		{"8.0", "io-threads", "16", "16"},
		{"8.0", "slowlog-max-len", "7", "7"},
	} {
		if err := Check(c.version, c.name, c.value); err != nil {
			t.Errorf("Check(%q, %q, %q): %v", c.version, c.name, c.value, err)
		}
		if _, got, err := Canonical(c.version, c.name, c.value); err != nil || got != c.want {
			t.Errorf("Canonical(%q, %q, %q) = %q, %v; want %q", c.version, c.name, c.value, got, err, c.want)
		}
	}
}

func TestCheckRefusesWithTheNearestRightSpelling(t *testing.T) {
	for _, c := range []struct {
		version, name, value string
		kind                 Kind
		want                 string
	}{
		{"9.1", "maxmemory-polcy", "x", Unknown, `did you mean "maxmemory-policy"?`},
		{"9.1", "zzzzzzzzzzzzzzzzzzz", "x", Unknown, "unknown directive"},
		{"7.2", "maxmemory", "1", Unknown, `version "7.2" is not supported: 8.0, 8.1, 9.0, 9.1 are`},
		{"8.1", "mptcp", "yes", Unknown, "unknown to Valkey 8.1; it exists from 9.0 on"},
		{"9.0", "hash-seed", "x", Unknown, "it exists from 9.1 on"},
		{"9.1", "sanitize-dump-payload", "no", Unknown, "it exists from 8.0 to 9.0"},
		{"9.1", "port", "6379", Reserved, "use spec.networking.port"},
		{"9.1", "slaveof", "a 1", Reserved, "use spec.topology"},
		{"9.1", "requirepass", "hunter2", Secret, "use spec.auth.existingSecret"},
		{"9.1", "masterauth", "hunter2", Secret, "in a Secret"},
		{"9.1", "watchdog-period", "1", Reserved, "debugging"},
		{"9.1", "include", "/etc/passwd", Reserved, "include"},
		{"9.1", "maxmemory-policy", "allkeys-lrv", Value, `did you mean "allkeys-lru"?`},
		{"9.1", "maxmemory-policy", "", Value, "must be one of volatile-lru"},
		{"9.1", "activedefrag", "ye\u017f", Value, "must be one of yes, no"},
		{"9.1", "maxmemory", "100Mi", Value, `did you mean "100mb"?`},
		{"9.1", "maxmemory", "1tb", Value, "unknown unit"},
		{"9.1", "maxmemory", "-1", Value, "must be a size"},
		{"9.1", "maxmemory", "99999999999999999999", Value, "is too large"},
		{"9.1", "maxmemory", "18446744073709551615gb", Value, "is too large"},
		{"9.1", "proto-max-bulk-len", "1kb", Value, "must be between 1mb and"},
		{"9.1", "maxmemory-clients", "101%", Value, "between 1% and 100%"},
		{"9.1", "hz", "ten", Value, "must be a whole number between 1 and 500"},
		{"9.1", "active-defrag-cycle-min", "100", Value, "must be between 1 and 99"},
		{"9.1", "list-max-listpack-size", "-99999999999", Value, "must be between -2147483648"},
		{"9.1", "io-threads", "08", Value, "must be a whole number"},
		{"9.1", "io-threads", "99999999999999999999", Value, "must be between 1 and 256"},
		{"9.1", "maxmemory", "1mb\nport 1", Value, "takes one line"},
		{"9.1", "syslog-ident", "a\x00b", Value, "control character U+0000"},
		{"9.1", "syslog-ident", "a\xffb", Value, "is not UTF-8"},
		{"9.1", "save", "900", Value, "pairs of seconds and changes"},
		{"9.1", "save", "900 1\n", Value, "pairs of seconds and changes"},
		{"9.1", "save", "900\n1", Value, "pairs of seconds and changes"},
		{"9.1", "save", "0 1", Value, "seconds must be from 1"},
		{"9.1", "save", "1 -1", Value, "changes from 0"},
		{"9.1", "client-output-buffer-limit", "", Value, "must be lines"},
		{"9.1", "client-output-buffer-limit", "primary 1 1 1", Value, `has the class "primary"`},
		{"9.1", "client-output-buffer-limit", "slave 1 1 1\nreplica 1 1 1", Value, "twice"},
		{"9.1", "client-output-buffer-limit", "normal 1Mi 1 1", Value, `has the limit "1Mi"`},
		{"9.1", "client-output-buffer-limit", "normal 1 9300000000gb 1", Value, "is too large"},
		{"9.1", "client-output-buffer-limit", "normal 1 1 -1", Value, `has the seconds "-1"`},
		{"9.1", "shutdown-on-sigint", "save nosave", Value, "both save and nosave"},
		{"9.1", "shutdown-on-sigint", "", Value, "must be one or more of default"},
		{"8.1", "shutdown-on-sigint", "failover", Value, "must be one of default"},
		{"9.1", "oom-score-adj-values", "1 2", Value, "three numbers"},
		{"9.1", "oom-score-adj-values", "1 2 2001", Value, `has "2001"`},
		{"9.1", "notify-keyspace-events", "KEZ", Value, `has the letter 'Z'`},
		{"9.1", "latency-tracking-info-percentiles", "100.1", Value, `has "100.1"`},
		{"9.1", "latency-tracking-info-percentiles", "x", Value, `has "x"`},
		{"9.1", "bio-cpulist", "0;1", Value, "list of processors"},
		{"9.1", "proc-title-template", "{x}", Value, "no other braces"},
		{"8.0", "proc-title-template", "", Value, "must be more than {title}"},
		{"9.1", "proc-title-template", " {title} {server-mode}", Value, "must be more than {title}"},
		{"9.1", "tls-ciphers", "a b", Value, "holds a space"},
		{"9.1", "locale-collate", "xx_YY", Value, `must be one of "", C`},
		{"9.0", "log-format", "json", Value, "must be one of legacy, logfmt"},
		{"8.0", "io-threads", "17", Value, "must be between 1 and 16"},
	} {
		err := Check(c.version, c.name, c.value)
		var problem *Problem
		if !errors.As(err, &problem) || problem.Kind != c.kind || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), c.name+": ") {
			t.Errorf("Check(%q, %q, %q): %v; want %s with %q", c.version, c.name, c.value, err, c.kind, c.want)
		}
		if c.kind == Secret && strings.Contains(err.Error(), c.value) {
			t.Errorf("the message shows the secret: %v", err)
		}
	}
}

func TestCanonicalOfWrongInput(t *testing.T) {
	if _, _, err := Canonical("9.1", "maxmemory-polcy", "x"); err == nil {
		t.Error("an unknown name is accepted")
	}
	if _, _, err := Canonical("9.1", "hz", "x"); err == nil {
		t.Error("a wrong value is accepted")
	}
	if name, value, err := Canonical("9.1", "slaveof", "a 1"); name != "replicaof" || value != "a 1" || err != nil {
		t.Errorf("reserved: %q %q %v", name, value, err)
	}
	if _, value, err := Canonical("9.1", "unixsocketperm", "0700"); value != "700" || err != nil {
		t.Errorf("octal: %q %v", value, err)
	}
	if _, _, err := Canonical("9.1", "unixsocketperm", "9"); err == nil {
		t.Error("9 is no octal number")
	}
}

func TestCheckAllReportsEverything(t *testing.T) {
	problems := CheckAll("9.1", map[string]string{
		"hz": "x", "maxmemory-polcy": "y", "slowlog-max-len": "1", "commandlog-slow-execution-max-len": "2",
		"active-defrag-cycle-min": "90", "active-defrag-threshold-lower": "50", "Active-Defrag-Threshold-Upper": "40",
		"maxmemory": "1gb",
	})
	var got []string
	for _, p := range problems {
		got = append(got, string(p.Kind)+" "+p.Name)
	}
	want := "value hz, unknown maxmemory-polcy, duplicate slowlog-max-len, conflict active-defrag-cycle-min, conflict Active-Defrag-Threshold-Upper"
	if text := strings.Join(got, ", "); text != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
	if fine := CheckAll("8.0", map[string]string{"active-defrag-cycle-min": "20", "hz": "50"}); len(fine) != 0 {
		t.Errorf("problems of a right map: %v", fine)
	}
	if wrong := CheckAll("8.0", map[string]string{"active-defrag-cycle-min": "x"}); len(wrong) != 1 {
		t.Errorf("a wrong value is compared too: %v", wrong)
	}
}
