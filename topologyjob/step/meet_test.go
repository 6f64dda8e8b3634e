// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package step

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/plan"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// TestWhoIsApart: a node has to meet those that it does not know, or has no link to for a
// while, and those that do not know it: where only one of two knows the other, a MEET is sent
// once more, however well it knows the other itself.
func TestWhoIsApart(t *testing.T) {
	const (
		linked     = "connected"
		unlinked   = "disconnected"
		themselves = "myself,master"
	)
	one, two := plan.Ref{Pod: "c-0-0", ID: strings.Repeat("a", 40)}, plan.Ref{Pod: "c-1-0", ID: strings.Repeat("b", 40)}
	line := func(ref plan.Ref, flags, link string) string {
		return ref.ID + " 10.0.0.1:6379@16379 " + flags + " - 0 0 1 " + link + "\n"
	}
	elsewhere := strings.Replace(line(two, "master", linked), "10.0.0.1", "10.0.0.9", 1)
	for name, c := range map[string]struct {
		one, two string
		apart    bool
		// patient is whether it has to last for a while.
		patient bool
	}{
		"both know each other":             {line(two, "master", linked), line(one, "master", linked), false, false},
		"neither knows the other":          {"", "", true, false},
		"only the other one knows":         {"", line(one, "master", linked), true, false},
		"only this one knows":              {line(two, "master", linked), "", true, true},
		"the other one is shaking hands":   {line(two, "master", linked), line(one, "handshake", linked), true, true},
		"this one is shaking hands":        {line(two, "handshake", linked), line(one, "master", linked), true, false},
		"this one has no link":             {line(two, "master", unlinked), line(one, "master", linked), true, true},
		"the other one has lost its link":  {line(two, "master", linked), line(one, "master", unlinked), false, false},
		"this one has lost the address":    {line(two, "master,noaddr", linked), line(one, "master", linked), true, true},
		"this one tries an old address":    {elsewhere, line(one, "master", linked), true, true},
		"the other one is taken for dead":  {line(two, "master,fail", linked), line(one, "master", linked), false, false},
		"the other one is a replica today": {line(two, "slave", linked), line(one, "master", linked), false, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				own, err := node.ParseNodes(line(two, themselves, linked))
				if err != nil {
					t.Fatal(err)
				}
				answers := map[string]*survey.Answer{two.Pod: {ID: two.ID, Nodes: own}}
				e := Env{answers: answers, Now: time.Now, Sleep: func(_ context.Context, d time.Duration) error { time.Sleep(d); return nil }}
				from := peer{ref: one, conn: says(line(one, themselves, linked) + c.one)}
				to := peer{ref: two, conn: says(line(two, themselves, linked) + c.two)}
				apart, err := e.apart(t.Context(), from, []plan.Ref{two}, func(plan.Ref) peer { return to })
				var want []plan.Ref
				if c.apart {
					want = []plan.Ref{two}
				}
				if diff := cmp.Diff(want, apart); diff != "" || err != nil {
					t.Errorf("%s%v", diff, err)
				}
				if patient := time.Since(began) >= relink; patient != c.patient {
					t.Errorf("after %s", time.Since(began))
				}
			})
		})
	}
}
