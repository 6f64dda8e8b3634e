// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package step

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/plan"
)

// says is a connection to a server that answers everything with one text.
type says string

func (s says) Do(_ context.Context, commands ...node.Command) []node.Reply {
	replies := make([]node.Reply, len(commands))
	for i := range replies {
		replies[i].Value = string(s)
	}
	return replies
}

func (says) Close() {}

// TestKeySizeIsNeverAReasonToFail: servers with little data count down from 2^64.
func TestKeySizeIsNeverAReasonToFail(t *testing.T) {
	for info, want := range map[says]int64{
		"used_memory_dataset:5000\r\ndb0:keys=50,expires=0\r\n":                100,
		"used_memory_dataset:18446744073709521416\r\ndb0:keys=5,expires=0\r\n": 0,
		"used_memory_dataset:-5\r\ndb0:keys=5,expires=0\r\n":                   0,
		"db0:keys=5,expires=0\r\n":                                             0,
		"used_memory_dataset:5000\r\n":                                         0,
	} {
		if got, err := (Env{}).keySize(t.Context(), peer{conn: info}); got != want || err != nil {
			t.Errorf("%q: %d %v", string(info), got, err)
		}
	}
}

// TestNextPassword: of the commands of one pipeline that are all refused, one gives up the
// password.
func TestNextPassword(t *testing.T) {
	tr := transfer{login: node.Login{User: "u", Passwords: []string{"a", "b"}}}
	for range 2 {
		if !tr.nextPassword(2) || len(tr.login.Passwords) != 1 {
			t.Errorf("%d left", len(tr.login.Passwords))
		}
	}
	if tr.nextPassword(1) || len(tr.login.Passwords) != 1 {
		t.Error("the last one was given up")
	}
}

// TestTargetHasToKnowTheSourcesEpoch before it takes slots with the one above all it knows.
func TestTargetHasToKnowTheSourcesEpoch(t *testing.T) {
	one, two := plan.Ref{Pod: "c-0-0", ID: strings.Repeat("a", 40)}, plan.Ref{Pod: "c-1-0", ID: strings.Repeat("b", 40)}
	line := func(ref plan.Ref, flags string, epoch int) string {
		return fmt.Sprintf("%s 10.0.0.1:6379@16379 %s - 0 0 %d connected\n", ref.ID, flags, epoch)
	}
	for name, c := range map[string]struct {
		from, seen, to int
		ahead          bool
	}{
		"it does":                        {3, 3, 2, true},
		"it does, and its own is higher": {3, 3, 5, true},
		"the source has a new one":       {4, 3, 2, false},
		"both have one":                  {3, 3, 3, false},
		"the source has taken the same":  {4, 3, 4, false},
	} {
		t.Run(name, func(t *testing.T) {
			tr := transfer{
				Env:  Env{Sleep: func(context.Context, time.Duration) error { return context.DeadlineExceeded }, Patience: time.Minute},
				from: &lanes{peer: peer{ref: one, conn: says(line(one, "myself,master", c.from))}},
				to:   &lanes{peer: peer{ref: two, conn: says(line(two, "myself,master", c.to) + line(one, "master", c.seen))}},
			}
			err := tr.ahead(t.Context())
			if _, unproven := errors.AsType[*UnprovenError](err); unproven == c.ahead || c.ahead && err != nil {
				t.Error(err)
			}
		})
	}
}

// TestComparisonOfAKeyOnBothSides: whatever a server answers to DUMP.
func TestComparisonOfAKeyOnBothSides(t *testing.T) {
	for name, c := range map[string]struct {
		from, to any
		equal    bool
		fails    bool
	}{
		"the same":                   {"a", "a", true, false},
		"others":                     {"a", "b", false, false},
		"not at the source any more": {nil, "a", true, false},
		"not at the target":          {"", nil, false, false},
		"at neither":                 {nil, nil, true, false},
		"lists":                      {[]any{"a"}, []any{"a"}, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			side := func(value any) *lanes { return &lanes{peer: peer{conn: dumps{value}}} }
			tr := transfer{Env: Env{Pool: node.NewPool(nil)}, from: side(c.from), to: side(c.to)}
			if equal, err := tr.equal(t.Context(), "key"); equal != c.equal || (err != nil) != c.fails {
				t.Error(equal, err)
			}
		})
	}
}

// dumps is a connection to a server on which every key has one value, for ever.
type dumps struct{ value any }

func (d dumps) Do(_ context.Context, commands ...node.Command) []node.Reply {
	replies := make([]node.Reply, len(commands))
	for i, command := range commands {
		switch command[0] {
		case "DUMP":
			replies[i].Value = d.value
		case "PTTL":
			replies[i].Value = int64(-1)
		}
	}
	return replies
}

func (dumps) Close() {}
