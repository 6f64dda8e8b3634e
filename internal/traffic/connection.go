// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"fmt"
	"strconv"
	"sync"
	"time"
)

// counts are what a connection has seen since the last lap.
type counts struct {
	acknowledged int
	failures     map[string]int
	stall        Stall
	late         time.Duration
}

// acknowledgement is one of a key, by the number of the key.
type acknowledgement struct {
	after  time.Duration // since the writing began
	server string
}

// connection writes to slots of one shard, one key after the other.
type connection struct {
	client
	number int
	shard  int
	slots  []int
	tags   []string
	run    string
	// pause is between two writes, from begin to begin.
	pause time.Duration
	begun time.Time

	// acknowledged are those of the keys 0, 1 and so on.
	acknowledged []acknowledgement

	mu   sync.Mutex
	seen counts
	// waits is since when the write under way does; zero when there is none.
	waits time.Time
}

// slot is that of the key with a number. Neighbours are far apart, so that all slots of the
// shard are written to soon, also those that move.
func (c *connection) slot(n int) int {
	const stride = 7919
	return c.slots[(n*stride+c.number*127)%len(c.slots)]
}

func (c *connection) key(n int) string {
	return fmt.Sprintf("{%s}:%s:%d:%d", c.tags[c.slot(n)], c.run, c.number, n)
}

func (c *connection) value(n int) string { return strconv.Itoa(c.number) + "." + strconv.Itoa(n) }

// write writes until stop is closed. A key that failed is written again when the next one
// would be due.
func (c *connection) write(stop <-chan struct{}, connections int) {
	due := c.begun.Add(c.pause * time.Duration(c.number) / time.Duration(connections))
	for n := 0; ; {
		select {
		case <-stop:
			return
		case <-time.After(time.Until(due)):
		}
		c.begins(due)
		_, server, err := c.send(c.slot(n), "SET", c.key(n), c.value(n))
		now := time.Now()
		if err == nil {
			c.acknowledged = append(c.acknowledged, acknowledgement{now.Sub(c.begun), server})
			n++
		}
		c.ends(now, err)
		// What was missed is not made up for.
		if due = due.Add(c.pause); due.Before(now) {
			due = now
		}
		if least := now.Add(2 * time.Millisecond); err != nil && due.Before(least) {
			due = least
		}
	}
}

// begins notes that a write is sent, for the first time or again.
func (c *connection) begins(due time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waits.IsZero() {
		c.waits = due
		c.seen.late = max(c.seen.late, time.Since(due))
	}
}

// ends notes what became of it.
func (c *connection) ends(now time.Time, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		if c.seen.failures == nil {
			c.seen.failures = map[string]int{}
		}
		c.seen.failures[kind(err)]++
		return
	}
	c.seen.acknowledged++
	c.seen.stall = c.seen.stall.longer(Stall{milliseconds(now.Sub(c.waits)), c.waits})
	c.waits = time.Time{}
}

// lap returns what was seen since the last one. A write under way counts as long as it has
// taken.
func (c *connection) lap(now time.Time) counts {
	c.mu.Lock()
	defer c.mu.Unlock()
	seen := c.seen
	if !c.waits.IsZero() {
		seen.stall = seen.stall.longer(Stall{milliseconds(now.Sub(c.waits)), c.waits})
	}
	c.seen = counts{}
	return seen
}

// total is how many keys were acknowledged since the last lap.
func (c *connection) total() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.seen.acknowledged
}
