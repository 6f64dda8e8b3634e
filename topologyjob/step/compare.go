// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package step

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/plan"
	"github.com/valkey-render/valkey-render/topologyjob/slot"
)

const (
	// scanKeys is about how many keys are compared at once.
	scanKeys = 512
	// mostMissing ends a comparison early.
	mostMissing = 10_000
)

// comparison looks for the keys of one node at the owners of their slots.
type comparison struct {
	Env
	step    plan.Empty
	keys    int64
	ownerOf [name.SlotCount]*plan.Claim
	// conns are by node ID; a database is selected on them.
	conns map[string]node.Conn
	// seen is how many keys were compared, by database.
	seen map[int]int64
	// missing are those that their owner does not have, with the database's number before.
	missing map[string]int
}

// compare compares all keys, on connections of its own since it selects databases on them.
func (e Env) compare(ctx context.Context, s plan.Empty, databases map[int]int64) (*comparison, error) {
	ctx, cancel := context.WithTimeout(ctx, emptyTime)
	defer cancel()
	c := &comparison{Env: e, step: s, keys: total(databases), conns: map[string]node.Conn{}, seen: map[int]int64{}, missing: map[string]int{}}
	defer c.close()
	for i := range s.Owners {
		owner := &s.Owners[i]
		for _, r := range owner.Slots {
			for n := r.First; n <= r.Last; n++ {
				c.ownerOf[n] = owner
			}
		}
	}
	for _, database := range slices.Sorted(maps.Keys(databases)) {
		if err := c.database(ctx, database); err != nil {
			return nil, err
		}
		c.close()
	}
	return c, nil
}

func (c *comparison) close() {
	for id, conn := range c.conns {
		conn.Close()
		delete(c.conns, id)
	}
}

// conn is a connection to a node on which a database is selected.
func (c *comparison) conn(ctx context.Context, ref plan.Ref, database int) (node.Conn, error) {
	if conn := c.conns[ref.ID]; conn != nil {
		return conn, nil
	}
	answer := c.answers[ref.Pod]
	if answer == nil {
		return nil, fmt.Errorf("pod %s: not in the survey", ref.Pod)
	}
	conn, err := c.Pool.Dial(ctx, answer.Address)
	if err != nil {
		return nil, fmt.Errorf("pod %s: %w", ref.Pod, err)
	}
	c.conns[ref.ID] = conn
	id, err := node.Ask(ctx, conn, "CLUSTER", "MYID").Text()
	if err != nil {
		return nil, fmt.Errorf("pod %s: CLUSTER MYID: %w", ref.Pod, err)
	}
	if id != ref.ID {
		return nil, &RacedError{Pod: ref.Pod, What: "is now another node"}
	}
	if database == 0 {
		return conn, nil
	}
	if err := node.Ask(ctx, conn, "SELECT", strconv.Itoa(database)).Err; err != nil {
		return nil, fmt.Errorf("pod %s: SELECT %d: %w", ref.Pod, database, err)
	}
	return conn, nil
}

// database compares the keys of one database. Nobody writes to it, so that SCAN returns
// every key.
func (c *comparison) database(ctx context.Context, database int) error {
	conn, err := c.conn(ctx, c.step.Ref, database)
	if err != nil {
		return err
	}
	for cursor := "0"; ; {
		reply := node.Ask(ctx, conn, "SCAN", cursor, "COUNT", strconv.Itoa(scanKeys))
		if reply.Err != nil {
			return fmt.Errorf("pod %s: SCAN: %w", c.step.Pod, reply.Err)
		}
		keys, next, err := parseScan(reply.Value)
		if err != nil {
			return fmt.Errorf("pod %s: SCAN: %w", c.step.Pod, err)
		}
		if err := c.some(ctx, database, keys); err != nil {
			return err
		}
		if cursor = next; cursor == "0" || len(c.missing) >= mostMissing {
			return nil
		}
	}
}

func parseScan(reply any) (keys []string, cursor string, err error) {
	pair, ok := reply.([]any)
	if !ok || len(pair) != 2 {
		return nil, "", fmt.Errorf("reply %T is no cursor with keys", reply)
	}
	cursor, isText := pair[0].(string)
	list, isList := pair[1].([]any)
	if !isText || !isList {
		return nil, "", fmt.Errorf("reply %T, %T is no cursor with keys", pair[0], pair[1])
	}
	for _, key := range list {
		text, ok := key.(string)
		if !ok {
			return nil, "", fmt.Errorf("%T is no key", key)
		}
		keys = append(keys, text)
	}
	return keys, cursor, nil
}

// some asks the owners for some keys. An owner that has lost the slot says so by an error.
func (c *comparison) some(ctx context.Context, database int, keys []string) error {
	byOwner := map[*plan.Claim][]string{}
	c.seen[database] += int64(len(keys))
	for _, key := range keys {
		n := slot.OfKey(key)
		if c.step.Forgo.Contains(n) {
			continue
		}
		owner := c.ownerOf[n]
		if owner == nil {
			return &RacedError{Pod: c.step.Pod, What: fmt.Sprintf("has keys of slot %d, which nobody owns", n)}
		}
		byOwner[owner] = append(byOwner[owner], key)
	}
	for i := range c.step.Owners {
		owner := &c.step.Owners[i]
		keys := byOwner[owner]
		if len(keys) == 0 {
			continue
		}
		conn, err := c.conn(ctx, owner.Ref, database)
		if err != nil {
			return err
		}
		commands := make([]node.Command, len(keys))
		for i, key := range keys {
			commands[i] = node.Cmd("EXISTS", key)
		}
		for i, reply := range conn.Do(ctx, commands...) {
			n, err := reply.Int()
			if err != nil {
				return fmt.Errorf("pod %s: EXISTS in slot %d: %w", owner.Pod, slot.OfKey(keys[i]), err)
			}
			if n == 0 {
				c.missing[strconv.Itoa(database)+" "+keys[i]] = slot.OfKey(keys[i])
			}
		}
	}
	return nil
}

// String says how many keys are where: "holds 7 keys and owns no slot; 2 of them are not at
// the owners of their slots: 2 of slots 5,9 of pod c-1-0".
func (c *comparison) String() string {
	count, slots := map[string]int{}, map[string][]int{}
	for _, n := range c.missing {
		pod := c.ownerOf[n].Pod
		count[pod]++
		slots[pod] = append(slots[pod], n)
	}
	var where []string
	for _, pod := range slices.Sorted(maps.Keys(count)) {
		where = append(where, fmt.Sprintf("%d of slots %s of pod %s", count[pod], set(slots[pod]), pod))
	}
	least := ""
	if len(c.missing) >= mostMissing {
		least = "at least "
	}
	return fmt.Sprintf("holds %d keys and owns no slot; %s%d of them are not at the owners of their slots: %s", c.keys, least, len(c.missing), strings.Join(where, ", "))
}
