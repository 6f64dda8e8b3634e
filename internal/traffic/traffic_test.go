// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/valkey-render/valkey-render/internal/servertest"
	"github.com/valkey-render/valkey-render/topologyjob/slot"
)

func TestEverySlotHasATag(t *testing.T) {
	for want, tag := range tags() {
		if got := slot.OfKey("{" + tag + "}:more"); tag == "" || got != want {
			t.Errorf("tag %q is of slot %d, want %d", tag, got, want)
		}
	}
}

func TestSlotsAreWrittenDownAsRanges(t *testing.T) {
	for want, slots := range map[string][]int{"": nil, "7": {7}, "0-2": {0, 1, 2}, "0-1,5,9-10": {0, 1, 5, 9, 10}} {
		if got := ranges(slots); got != want {
			t.Errorf("%v: %q, want %q", slots, got, want)
		}
	}
}

// TestKeysAreUniqueAndInTheShard: also when there are as few slots as connections.
func TestKeysAreUniqueAndInTheShard(t *testing.T) {
	seen := map[string]bool{}
	for number := range 4 {
		c := connection{number: number, slots: []int{5, 6, 7}, tags: tags(), run: "r"}
		touched := map[int]bool{}
		for n := range 30 {
			key := c.key(n)
			if at := slot.OfKey(key); seen[key] || at != c.slot(n) || at < 5 || at > 7 {
				t.Errorf("connection %d, key %d is %s, of slot %d", number, n, key, at)
			}
			seen[key], touched[c.slot(n)] = true, true
		}
		if len(touched) != 3 {
			t.Errorf("connection %d writes to slots %v", number, touched)
		}
	}
}

// TestAStallLastsUntilTheAcknowledgement: over failures, and over laps while it goes on.
func TestAStallLastsUntilTheAcknowledgement(t *testing.T) {
	c := connection{}
	due := time.Now().Add(-time.Second)
	at := func(ms int) time.Time { return due.Add(time.Duration(ms) * time.Millisecond) }
	c.begins(due)
	c.ends(at(100), servertest.ReplyError("CLUSTERDOWN The cluster is down"))
	first := c.lap(at(200))
	c.begins(at(250))
	c.ends(at(300), nil)
	second := c.lap(at(400))
	third := c.lap(at(500))
	for i, got := range []counts{first, second, third} {
		want := []float64{200, 300, 0}[i]
		if got.stall.Milliseconds != want || got.failures["CLUSTERDOWN"] != 1-min(i, 1) || got.acknowledged != i%2 {
			t.Errorf("lap %d: %+v, want a stall of %.0f ms", i, got, want)
		}
	}
	if first.late < time.Second || second.late != 0 {
		t.Errorf("it began late by %s, and again by %s", first.late, second.late)
	}
}

func TestPartsMakeALap(t *testing.T) {
	l := Lap{Shards: []Shard{{Slots: "0-9"}, {Slots: "10-19", First: 10}}}
	l.add(0, counts{acknowledged: 3, stall: Stall{Milliseconds: 20}})
	l.add(1, counts{acknowledged: 1, stall: Stall{Milliseconds: 700}, failures: map[string]int{"timeout": 2}, late: time.Millisecond})
	l.add(1, counts{acknowledged: 2, stall: Stall{Milliseconds: 30}, failures: map[string]int{"timeout": 1, "refused": 1}})
	want := Lap{
		Acknowledged: 6, Failed: 4, Failures: map[string]int{"timeout": 3, "refused": 1}, LongestStall: Stall{Milliseconds: 700}, LateMilliseconds: 1,
		Shards: []Shard{
			{Slots: "0-9", Acknowledged: 3, LongestStall: Stall{Milliseconds: 20}},
			{Slots: "10-19", First: 10, Acknowledged: 3, Failed: 4, LongestStall: Stall{Milliseconds: 700}},
		},
	}
	if diff := cmp.Diff(want, l); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if text := l.String(); !strings.Contains(text, "4 failed 1 refused, 3 timeout, longest stall 700 ms (0-9 20 ms, 10-19 700 ms)") {
		t.Error(text)
	}
}

func TestFailuresHaveShortNames(t *testing.T) {
	dialed := func(err error) error { return &net.OpError{Op: "dial", Net: "tcp", Err: err} }
	for want, err := range map[string]error{
		"CLUSTERDOWN":   servertest.ReplyError("CLUSTERDOWN The cluster is down"),
		"closed":        fmt.Errorf("reading: %w", io.EOF),
		"refused":       dialed(os.NewSyscallError("connect", syscall.ECONNREFUSED)),
		"unreachable":   dialed(os.NewSyscallError("connect", syscall.EHOSTUNREACH)),
		"timeout":       &net.OpError{Op: "read", Net: "tcp", Err: os.ErrDeadlineExceeded},
		"dial: timeout": dialed(os.ErrDeadlineExceeded),
	} {
		if got := kind(err); got != want {
			t.Errorf("%v: %q, want %q", err, got, want)
		}
	}
}

func TestRedirections(t *testing.T) {
	for text, want := range map[string]string{
		"MOVED 5 10.0.0.1:6379": "10.0.0.1:6379 false true",
		"ASK 5 10.0.0.1:6379":   "10.0.0.1:6379 true true",
		"MOVED 5 :6379":         " false false",
		"READONLY no":           " false false",
	} {
		address, ask, is := redirection(servertest.ReplyError(text))
		if got := fmt.Sprint(address, " ", ask, " ", is); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	if _, _, is := redirection(errors.New("MOVED 5 10.0.0.1:6379")); is {
		t.Error("what is no answer redirects")
	}
}
