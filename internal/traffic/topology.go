// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/valkey-render/valkey-render/internal/servertest"
	"github.com/valkey-render/valkey-render/render/name"
)

// refreshes are at least so far apart.
const refreshPause = 100 * time.Millisecond

// topology is what all connections know of who owns which slot.
type topology struct {
	dial func(address string) (*link, error)
	seed string

	mu     sync.Mutex
	owners [name.SlotCount]string
	nodes  []string

	asking sync.Mutex
	asked  time.Time
}

// owner is the address of the server that has a slot, or the seed.
func (t *topology) owner(slot int) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if at := t.owners[slot]; at != "" {
		return at
	}
	return t.seed
}

func (t *topology) moved(slot int, address string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.owners[slot] = address
}

// refresh asks who owns what, unless that was just done.
func (t *topology) refresh() error {
	t.asking.Lock()
	defer t.asking.Unlock()
	if time.Since(t.asked) < refreshPause {
		return nil
	}
	t.mu.Lock()
	nodes := slices.Clone(t.nodes)
	t.mu.Unlock()
	rand.Shuffle(len(nodes), func(i, k int) { nodes[i], nodes[k] = nodes[k], nodes[i] })
	var errs []error
	for _, address := range append(nodes, t.seed) {
		ranges, err := t.ask(address)
		if err == nil {
			t.take(ranges)
			t.asked = time.Now()
			return nil
		}
		errs = append(errs, fmt.Errorf("%s: %w", address, err))
	}
	t.asked = time.Now()
	return fmt.Errorf("topology: %w", errors.Join(errs...))
}

// owned is a range of slots with the address of its primary, which comes first, and those of
// its replicas.
type owned struct {
	first, last int
	nodes       []string
}

func (t *topology) ask(address string) ([]owned, error) {
	l, err := t.dial(address)
	if err != nil {
		return nil, err
	}
	defer l.conn.Close()
	reply, err := l.conn.Do("CLUSTER", "SLOTS")
	if err != nil {
		return nil, err
	}
	list, _ := reply.([]any)
	var all []owned
	for _, entry := range list {
		fields, _ := entry.([]any)
		if len(fields) < 3 {
			return nil, fmt.Errorf("CLUSTER SLOTS: %v", entry)
		}
		first, _ := fields[0].(int64)
		last, _ := fields[1].(int64)
		o := owned{first: int(first), last: int(last)}
		for _, node := range fields[2:] {
			words, _ := node.([]any)
			if len(words) < 2 {
				return nil, fmt.Errorf("CLUSTER SLOTS: %v", entry)
			}
			if host, _ := words[0].(string); host != "" {
				o.nodes = append(o.nodes, fmt.Sprintf("%s:%v", host, words[1]))
			}
		}
		if len(o.nodes) > 0 {
			all = append(all, o)
		}
	}
	if len(all) == 0 {
		return nil, errors.New("it knows of no slots")
	}
	return all, nil
}

// take replaces what is known; slots that nobody has keep the owner that they had.
func (t *topology) take(ranges []owned) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.nodes = nil
	for _, r := range ranges {
		for slot := r.first; slot <= r.last && slot < name.SlotCount; slot++ {
			t.owners[slot] = r.nodes[0]
		}
		for _, node := range r.nodes {
			if !slices.Contains(t.nodes, node) {
				t.nodes = append(t.nodes, node)
			}
		}
	}
}

// shards are the slots of each owner, in the order of their first ones. All slots have to
// have one.
func (t *topology) shards() ([][]int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all [][]int
	of := map[string]int{}
	for slot, address := range t.owners {
		if address == "" {
			return nil, fmt.Errorf("slot %d: nobody has it", slot)
		}
		if _, is := of[address]; !is {
			of[address] = len(all)
			all = append(all, nil)
		}
		all[of[address]] = append(all[of[address]], slot)
	}
	return all, nil
}

// ranges writes slots down as servers do: 0-99,200.
func ranges(slots []int) string {
	var parts []string
	for i := 0; i < len(slots); {
		k := i
		for k+1 < len(slots) && slots[k+1] == slots[k]+1 {
			k++
		}
		if k == i {
			parts = append(parts, fmt.Sprint(slots[i]))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", slots[i], slots[k]))
		}
		i = k + 1
	}
	return strings.Join(parts, ",")
}

// redirection is where an answer sends a command, and whether that is for this time only.
func redirection(err error) (address string, ask, is bool) {
	refused, is := errors.AsType[servertest.ReplyError](err)
	words := strings.Fields(string(refused))
	if !is || len(words) != 3 || words[0] != "MOVED" && words[0] != "ASK" || strings.HasPrefix(words[2], ":") {
		return "", false, false
	}
	return words[2], words[0] == "ASK", true
}
