// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"context"
	"time"
)

// readBack reads every acknowledged key of a connection, whose writing has ended.
func (c *connection) readBack(ctx context.Context, into *Report) {
	for n, a := range c.acknowledged {
		key := c.key(n)
		reply, answered := c.read(ctx, c.slot(n), key)
		if !answered {
			into.Unread += len(c.acknowledged) - n
			return
		}
		if found, _ := reply.(string); found != c.value(n) {
			into.Lost++
			into.LostKeys = append(into.LostKeys, Lost{Key: key, Slot: c.slot(n), Acknowledged: c.begun.Add(a.after), By: a.server, Found: found})
		}
	}
}

// read asks until there is an answer, or the context ends.
func (c *connection) read(ctx context.Context, slot int, key string) (any, bool) {
	for {
		reply, _, err := c.send(slot, "GET", key)
		if err == nil {
			return reply, true
		}
		select {
		case <-ctx.Done():
			return nil, false
		case <-time.After(50 * time.Millisecond):
		}
	}
}
