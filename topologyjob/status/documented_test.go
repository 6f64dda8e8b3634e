// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// contract are the conditions, each with the statuses of its reasons, as the reference pages
// have them, and the events with their types.
type contract struct {
	conditions map[string]map[string]string
	events     map[string]string
}

var (
	row     = regexp.MustCompile("^\\| `([A-Za-z]+)` \\| (True|False|Normal|Warning) \\|")
	heading = regexp.MustCompile("^#{2,3} (.*)$")
)

// contracts are those of ValkeyClusters, ValkeyNodes and ValkeyACLs.
var contracts = sync.OnceValue(func() map[string]contract {
	all := map[string]contract{}
	for kind, file := range map[string]string{"cluster": "valkeycluster", "node": "valkeynode", "acl": "valkeyacl"} {
		c := contract{map[string]map[string]string{}, map[string]string{}}
		data, err := os.ReadFile("../../docs/spec/" + file + ".md")
		if err != nil {
			panic(err)
		}
		at := ""
		for line := range strings.Lines(string(data)) {
			if m := heading.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
				at = strings.Trim(m[1], "`")
				continue
			}
			m := row.FindStringSubmatch(line)
			switch {
			case m == nil:
			case at == "Events":
				c.events[m[1]] = m[2]
			default:
				if c.conditions[at] == nil {
					c.conditions[at] = map[string]string{}
				}
				c.conditions[at][m[1]] = m[2]
			}
		}
		all[kind] = c
	}
	return all
})

// fatal is what *testing.T and *rapid.T have in common.
type fatal interface {
	Helper()
	Fatalf(format string, args ...any)
}

// documented fails when a result says what the reference pages do not have.
func documented(t fatal, r Result) {
	t.Helper()
	check := func(kind string, list []metav1.Condition) {
		for _, c := range list {
			status, known := contracts()[kind].conditions[c.Type][c.Reason]
			// Ready takes over the reason of Degraded.
			if degraded := contracts()[kind].conditions["Degraded"][c.Reason]; !known && c.Type == "Ready" && degraded != "" {
				status = "False"
			}
			if status != string(c.Status) {
				t.Fatalf("%s: condition %s %s with reason %s is in no reference page: %s", kind, c.Type, c.Status, c.Reason, c.Message)
			}
		}
	}
	check("cluster", r.Status.Conditions)
	for _, n := range r.Nodes {
		check("node", n.Status.Conditions)
	}
	for _, e := range r.Events {
		kind, want := "cluster", "Normal"
		if e.Node != "" {
			kind = "node"
		}
		if e.Warning {
			want = "Warning"
		}
		if got := contracts()[kind].events[e.Reason]; got != want {
			t.Fatalf("event %s is %s, the reference page says %q", e.Reason, want, got)
		}
	}
}

func TestTheReferencePagesAreRead(t *testing.T) {
	c := contracts()
	if c["cluster"].conditions["Ready"]["ClusterHealthy"] != "True" || c["node"].events["LiveConfigApplyFailed"] != "Warning" || len(c["cluster"].events) < 40 {
		t.Errorf("%+v", c)
	}
}
