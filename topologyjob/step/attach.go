// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package step

import (
	"context"

	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/plan"
)

// attach makes nodes replicas, which deletes what they hold. So each must be empty still,
// or a replica already, of another node than the plan was made for; and its primary must be
// a primary still. The server refuses to make a primary with slots or keys a replica.
func (e Env) attach(ctx context.Context, s plan.Attach) error {
	return each(s.Replicas, func(a plan.Attachment) error {
		primary, err := e.peer(ctx, a.Primary)
		if err != nil {
			return err
		}
		p, err := e.peer(ctx, a.Replica)
		if err != nil {
			return err
		}
		its, err := e.nodes(ctx, primary)
		if err != nil {
			return err
		}
		if its.Own().Replica {
			return &RacedError{Pod: a.Primary.Pod, What: "is a replica by now"}
		}
		now, err := e.nodes(ctx, p)
		if err != nil {
			return err
		}
		own, planned := now.Own(), e.answers[a.Replica.Pod].Own()
		switch {
		case own.Replica && own.Primary == a.Primary.ID:
			return nil
		case own.Replica != planned.Replica || own.Primary != planned.Primary:
			return &RacedError{Pod: a.Replica.Pod, What: "changed its role"}
		case len(own.Slots) > 0:
			return &RacedError{Pod: a.Replica.Pod, What: "owns slots by now"}
		}
		if !own.Replica {
			keys, err := e.keys(ctx, p)
			if err != nil {
				return err
			}
			if keys > 0 {
				return &RacedError{Pod: a.Replica.Pod, What: "holds keys by now"}
			}
		}
		if err := e.do(ctx, p, "CLUSTER", "REPLICATE", a.Primary.ID); err != nil {
			return err
		}
		return e.until(ctx, p, "replicates "+a.Primary.Pod, func(ctx context.Context) (bool, error) {
			now, err := e.nodes(ctx, p)
			return err == nil && now.Own().Replica && now.Own().Primary == a.Primary.ID, err
		})
	})
}

// keys is how many keys a peer holds now.
func (e Env) keys(ctx context.Context, p peer) (int64, error) {
	text, err := node.Ask(ctx, p.conn, "INFO", "keyspace").Text()
	if err != nil {
		e.drop(p, err)
		return 0, err
	}
	return node.ParseInfo(text).Keys()
}
