// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Stall is the longest time that a connection waited for an acknowledgement.
type Stall struct {
	Milliseconds float64 `json:"milliseconds"`
	// Since is when the write was due.
	Since time.Time `json:"since,omitzero"`
}

func (s Stall) longer(other Stall) Stall {
	if other.Milliseconds > s.Milliseconds {
		return other
	}
	return s
}

// Shard is what was written to the slots that one shard had when the writing began; with one
// address, to all.
type Shard struct {
	Slots        string `json:"slots"`
	First        int    `json:"firstSlot"`
	Acknowledged int    `json:"acknowledged"`
	Failed       int    `json:"failed"`
	LongestStall Stall  `json:"longestStall"`
}

// Lap is what was written since the last one.
type Lap struct {
	Seconds      float64 `json:"seconds"`
	Acknowledged int     `json:"acknowledged"`
	// Failed are errors that redirections and one new connection did not help, and Failures
	// what they were: the first word of a server's answer, or what became of the connection.
	Failed       int            `json:"failed"`
	Failures     map[string]int `json:"failures,omitempty"`
	LongestStall Stall          `json:"longestStall"`
	Shards       []Shard        `json:"shards"`
	// LateMilliseconds is the longest time that a write was begun after it was due, with
	// nothing to wait for: what the machine adds to the stalls.
	LateMilliseconds float64 `json:"lateMilliseconds"`
}

func (l Lap) String() string {
	var kinds []string
	for kind, n := range l.Failures {
		kinds = append(kinds, fmt.Sprintf(" %d %s", n, kind))
	}
	slices.Sort(kinds)
	var stalls []string
	for _, s := range l.Shards {
		stalls = append(stalls, fmt.Sprintf("%s %.0f ms", s.Slots, s.LongestStall.Milliseconds))
	}
	return fmt.Sprintf("%d acknowledged in %.1f s, %d failed%s, longest stall %.0f ms (%s), late by %.0f ms",
		l.Acknowledged, l.Seconds, l.Failed, strings.Join(kinds, ","), l.LongestStall.Milliseconds, strings.Join(stalls, ", "), l.LateMilliseconds)
}

// Lost is a key that was acknowledged, and is not there or has another value.
type Lost struct {
	Key          string    `json:"key"`
	Slot         int       `json:"slot"`
	Acknowledged time.Time `json:"acknowledgedAt"`
	// By is the server that did, as the address of its pod, with port.
	By    string `json:"acknowledgedBy"`
	Found string `json:"found,omitempty"`
}

// Report is what there is to say at the end.
type Report struct {
	Lap
	Lost     int    `json:"lost"`
	LostKeys []Lost `json:"lostKeys,omitempty"`
	// Unread could not be asked for in time, so that nobody knows.
	Unread int `json:"unread"`
}

// add puts a part of the writing, that of one connection, into the whole.
func (l *Lap) add(shard int, part counts) {
	l.Acknowledged += part.acknowledged
	for kind, n := range part.failures {
		if l.Failures == nil {
			l.Failures = map[string]int{}
		}
		l.Failures[kind] += n
		l.Failed += n
		l.Shards[shard].Failed += n
	}
	l.LongestStall = l.LongestStall.longer(part.stall)
	l.LateMilliseconds = max(l.LateMilliseconds, milliseconds(part.late))
	s := &l.Shards[shard]
	s.Acknowledged += part.acknowledged
	s.LongestStall = s.LongestStall.longer(part.stall)
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
