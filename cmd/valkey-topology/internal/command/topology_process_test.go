// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"strings"
	"testing"

	"github.com/valkey-render/valkey-render/internal/clustertest"
	"github.com/valkey-render/valkey-render/internal/servertest"
	"github.com/valkey-render/valkey-render/topologyjob/outcome"
)

// podFlags name the pods of a cluster.
func podFlags(c *clustertest.Cluster) []string {
	var flags []string
	for _, p := range c.Places() {
		flags = append(flags, "--pod", fmt.Sprintf("%s=%s,port=%d,uid=u,runs=Running", p.Name, p.Host, p.Port))
	}
	return flags
}

// TestProcessBootstrapByCommand: as a Job does it, with a password.
func TestProcessBootstrapByCommand(t *testing.T) {
	for _, version := range servertest.Sample(t) {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			c := clustertest.New(t, version, 2, 1, "--requirepass", "hunter2", "--primaryauth", "hunter2")
			files := memory{"current": "hunter2"}
			flags := append([]string{"--shards", "2", "--replicas", "1", "--user", "default", "--password-file", "current", "--password-file", "next"}, podFlags(c)...)

			s := run(t, files, nil, append([]string{"plan"}, flags...)...)
			if want := "would: number 4 nodes, assign 16384 slots to 2 primaries, MEET 4 nodes, attach 2 replicas, MEET 4 nodes; because no slot has an owner and every node is empty\n"; s.code != 0 || s.out.String() != want {
				t.Fatalf("plan: exit code %d: %s%s", s.code, s.out.String(), s.err.String())
			}
			s = run(t, files, nil, append([]string{"run", "--kind", "bootstrap", "--deadline", "1m", "--dry-run"}, flags...)...)
			if s.code != 0 || !strings.Contains(s.out.String(), "dry run: nothing was written): would: number 4 nodes") {
				t.Fatalf("dry run: exit code %d: %s%s", s.code, s.out.String(), s.err.String())
			}
			s = run(t, files, nil, append([]string{"run", "--kind", "bootstrap", "--deadline", "1m", "--output", "json", "--termination-log", "log"}, flags...)...)
			o, err := outcome.Parse([]byte(files["log"]))
			if s.code != 0 || err != nil || o.Result != outcome.Converged || o.Counts["slotsOwned"] != 16384 || o.Counts["step.assign"] != 1 || o.Counts["answered"] != 4 {
				t.Fatalf("exit code %d, %v: %+v\n%s", s.code, err, o, s.err.String())
			}
			if !strings.Contains(s.err.String(), "done: assign 16384 slots to 2 primaries\n") || strings.Contains(s.err.String()+s.out.String()+files["log"], "hunter2") {
				t.Errorf("narration: %s", s.err.String())
			}
			looks(t, files, flags)
			files["current"] = "wrong"
			s = run(t, files, nil, append([]string{"run", "--kind", "repair", "--deadline", "1s", "--termination-log", "log"}, flags...)...)
			if o, _ = outcome.Parse([]byte(files["log"])); s.code != 124 || !strings.Contains(o.Message, "Denied") || strings.Contains(s.err.String(), "wrong\n") {
				t.Errorf("wrong password: exit code %d: %+v", s.code, o)
			}
		})
	}
}

// looks runs the commands that change nothing.
func looks(t *testing.T, files memory, flags []string) {
	t.Helper()
	s := run(t, files, nil, append([]string{"survey"}, flags...)...)
	for _, want := range []string{"primary, slots 0-8191, 0 keys", "primary, slots 8192-16383, 0 keys", "replica of c-0-0, link up, 0 keys", "replica of c-1-0, link up, 0 keys"} {
		if !strings.Contains(s.out.String(), want) {
			t.Errorf("survey lacks %q:\n%s", want, s.out.String())
		}
	}
	for _, output := range []string{"json", "yaml"} {
		for _, command := range []string{"survey", "plan"} {
			if s = run(t, files, nil, append([]string{command, "--output", output}, flags...)...); s.code != 0 || len(s.out.String()) < 20 {
				t.Errorf("%s as %s: exit code %d: %s", command, output, s.code, s.out.String())
			}
		}
	}
}

// TestProcessReplicationByCommand: the same for servers without slots.
func TestProcessReplicationByCommand(t *testing.T) {
	for _, version := range servertest.Sample(t) {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			c := clustertest.NewReplication(t, version, 2)
			flags := append([]string{"--topology", "Replication", "--replicas", "1"}, podFlags(c)...)
			says := func(want string, args ...string) {
				t.Helper()
				if s := run(t, memory{}, nil, append(args, flags...)...); s.code != 0 || !strings.Contains(s.out.String(), want) {
					t.Errorf("%q: exit code %d, without %q:\n%s%s", args, s.code, want, s.out.String(), s.err.String())
				}
			}
			says("c-0-0  ", "survey")
			says("fenced, 0 keys", "survey")
			says("would: promote c-0-0; because there is no primary and every pod is empty\n", "plan")
			says("dry run: nothing was written): would: promote c-0-0", "run", "--kind", "bootstrap", "--deadline", "1m", "--dry-run")
			says("bootstrap: Converged: nothing to do", "run", "--kind", "bootstrap", "--deadline", "1m")
			says("primary, 1 replicas, 0 keys", "survey")
			says("replica of c-0-0, link up", "survey")
			says("handover: Converged", "run", "--kind", "handover", "--primary", "c-0-1", "--deadline", "1m")
			leads := c.Primary().Place.Name
			if leads != "c-0-1" {
				t.Errorf("%s is the primary", leads)
			}
			for _, output := range []string{"json", "yaml"} {
				says("replication", "survey", "--output", output)
				says("nothing to do", "plan", "--output", output)
			}
		})
	}
}
