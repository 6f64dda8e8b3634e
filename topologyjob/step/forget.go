// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package step

import (
	"context"
	"errors"
	"strings"

	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/plan"
)

// forget removes dead members from the memory of others, on all of them at once: whoever
// still knows one tells those who have forgotten, as soon as their ban of a minute is over.
// Before anybody forgets, all must still hold them for dead.
func (e Env) forget(ctx context.Context, s plan.Forget) error {
	peers := make([]peer, len(s.By))
	knows := make([][]string, len(s.By))
	index := map[plan.Ref]int{}
	for i, r := range s.By {
		index[r] = i
	}
	err := each(s.By, func(r plan.Ref) error {
		p, now, err := e.look(ctx, r)
		if err != nil {
			return err
		}
		for _, id := range s.IDs {
			entry, known := now.Sees(id)
			switch {
			case !known:
				continue
			case !entry.Failed && !entry.NoAddress && entry.Linked, now.Own().Primary == id:
				return &RacedError{Pod: r.Pod, What: "reaches node " + id}
			}
			knows[index[r]] = append(knows[index[r]], id)
		}
		peers[index[r]] = p
		return nil
	})
	if err != nil {
		return err
	}
	return each(s.By, func(r plan.Ref) error {
		p := peers[index[r]]
		for _, id := range knows[index[r]] {
			err := e.do(ctx, p, "CLUSTER", "FORGET", id)
			var refused *node.RefusedError
			// Since 8.0 those who forget tell the others, which may be faster than we are.
			if errors.As(err, &refused) && strings.HasPrefix(refused.Words, "Unknown node") {
				continue
			}
			if err != nil {
				return err
			}
		}
		return e.until(ctx, p, "has forgotten", func(ctx context.Context) (bool, error) {
			now, err := e.nodes(ctx, p)
			if err != nil {
				return false, err
			}
			for _, id := range s.IDs {
				if _, known := now.Sees(id); known {
					return false, nil
				}
			}
			return true, nil
		})
	})
}
