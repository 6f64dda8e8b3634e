// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package directive

import (
	"errors"
	"strings"
	"testing"
)

func TestCheckSentinel(t *testing.T) {
	for _, c := range [][2]string{
		{"failover-timeout", "1"},
		{"sentinel failover-timeout", "60000"},
		{"Parallel-Syncs", "2"},
		{"master-reboot-down-after-period", "0"},
		{"loglevel", "verbose"},
		{"log-format", "json"},
	} {
		if err := CheckSentinel("9.1", c[0], c[1]); err != nil {
			t.Error(err)
		}
	}
	for _, c := range []struct {
		version, name, value string
		kind                 Kind
		want                 string
	}{
		{"9.1", "failover-timeuot", "1", Unknown, `did you mean "failover-timeout"?`},
		{"9.1", "zzzzzzzzzzzzzzzzzzzzzzzz", "1", Unknown, "unknown directive of sentinel.conf"},
		{"9.1", "maxmemory-policy", "noeviction", Unknown, "use spec.config"},
		{"8.0", "log-format", "json", Unknown, "unknown to Valkey 8.0; it exists from 8.1 on"},
		{"9.1", "failover-timeout", "0", Value, "must be between 1 and"},
		{"9.1", "deny-scripts-reconfig", "no", Reserved, "a program for the pod to run"},
		{"9.1", "quorum", "2", Unknown, "use spec.sentinel.quorum"},
		{"9.1", "requirepass", "hunter2", Secret, "in a Secret"},
		{"9.1", "monitor", "mymaster a 1 2", Reserved, "use spec.sentinel.quorum"},
		{"9.1", "down-after-milliseconds", "1", Reserved, "use spec.sentinel.downAfter"},
		{"9.1", "auth-pass", "hunter2", Secret, "in a Secret"},
		{"9.1", "parallel-syncs", "1\n2", Value, "takes one line"},
	} {
		var problem *Problem
		err := CheckSentinel(c.version, c.name, c.value)
		if !errors.As(err, &problem) || problem.Kind != c.kind || !strings.Contains(problem.Message, c.want) || strings.Contains(problem.Message, "hunter2") {
			t.Errorf("%s %q: %v; want %s with %q", c.name, c.value, err, c.kind, c.want)
		}
	}
}

func TestSentinelLine(t *testing.T) {
	for _, c := range []struct{ name, value, want string }{
		{"down-after-milliseconds", "5000", "sentinel down-after-milliseconds mymaster 5000"},
		{"sentinel-user", "_sentinel", "sentinel sentinel-user _sentinel"},
		{"auth-pass", `a "b"`, `sentinel auth-pass mymaster "a \"b\""`},
		{"loglevel", "notice", "loglevel notice"},
	} {
		if got, err := SentinelLine("mymaster", c.name, c.value); err != nil || got != c.want {
			t.Errorf("%q, %v; want %q", got, err, c.want)
		}
	}
	if got, err := SentinelWords("mymaster", "monitor", "a.b", "6379", "2"); got != "sentinel monitor mymaster a.b 6379 2" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := SentinelLine("mymaster", "nosuch", "1"); err == nil {
		t.Error("an unknown name is written")
	}
	if _, err := SentinelLine("mymaster", "failover-timeout", "1\nport 1"); err == nil {
		t.Error("a newline is written")
	}
}
