// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package step

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/plan"
)

// close ends open slots. A side that imports a slot must still hold no key of it: closed
// with keys, they would belong to nobody. The primary tells its replicas.
func (e Env) close(ctx context.Context, s plan.Close) error {
	return each(s.Nodes, func(c plan.Closing) error {
		p, now, err := e.look(ctx, c.Ref)
		if err != nil {
			return err
		}
		if now.Own().Replica {
			return &RacedError{Pod: c.Pod, What: "is a replica by now"}
		}
		for _, r := range c.Slots {
			for number := r.First; number <= r.Last; number++ {
				if err := e.closeOne(ctx, p, now.Own(), number); err != nil {
					return err
				}
			}
		}
		return e.until(ctx, p, "has closed slots "+c.Slots.String(), func(ctx context.Context) (bool, error) {
			now, err := e.nodes(ctx, p)
			return err == nil && !slices.ContainsFunc(now.Own().Open, func(o node.OpenSlot) bool { return c.Slots.Contains(o.Slot) }), err
		})
	})
}

func (e Env) closeOne(ctx context.Context, p peer, own node.Entry, number int) error {
	word := strconv.Itoa(number)
	imports := own.Imports(number)
	if imports {
		keys, err := node.Ask(ctx, p.conn, "CLUSTER", "COUNTKEYSINSLOT", word).Int()
		if err != nil {
			e.drop(p, err)
			return fmt.Errorf("pod %s: CLUSTER COUNTKEYSINSLOT: %w", p.ref.Pod, err)
		}
		if keys > 0 {
			return &RacedError{Pod: p.ref.Pod, What: "holds keys of open slot " + word + " by now"}
		}
	}
	return e.do(ctx, p, "CLUSTER", "SETSLOT", word, "STABLE")
}
