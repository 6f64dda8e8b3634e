// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"context"
	"fmt"

	"github.com/valkey-render/valkey-render/internal/localpod"
	"github.com/valkey-render/valkey-render/topologyjob/converge"
	"github.com/valkey-render/valkey-render/topologyjob/decision"
	"github.com/valkey-render/valkey-render/topologyjob/node"
)

// moveSlots moves the slots of shards that nobody asks for to the others, and evens them
// out unless the spec says not to. It returns once the shards that go own no slot and hold
// no key.
func (t *Trial) moveSlots(ctx context.Context) error {
	if !t.current.Cluster.IsCluster() {
		return nil
	}
	data, _ := t.dataPods()
	d := decision.Desired(t.current.Cluster)
	d.RebalanceEnabled = t.current.Cluster.RebalanceEnabled()
	return t.bring(ctx, converge.Drain, d, data, nil)
}

// surplus are the pods of data servers that nobody asks for any more and that still exist:
// until they are gone they take part, since one may own slots or be the primary.
func (t *Trial) surplus() []*localpod.Pod {
	var data []*localpod.Pod
	for _, p := range t.host.Surplus() {
		if !t.isSentinel(p) {
			data = append(data, p)
		}
	}
	return data
}

// shrink takes pods away that nobody asks for, the highest ordinal first. None of them is
// a primary that others need: converge and moveSlots, which see them, have ended. That is
// asked again right before, since servers elect by themselves.
func (t *Trial) shrink(ctx context.Context) error {
	surplus := t.host.Surplus()
	for _, p := range surplus {
		if err := t.dispensable(ctx, p); err != nil {
			return fmt.Errorf("%s is not taken away: %w", p.Name(), err)
		}
		t.note("%s is taken away", p.Name())
		if err := p.Delete(ctx); err != nil {
			return err
		}
	}
	if len(surplus) == 0 {
		return nil
	}
	return t.converge(ctx)
}

// dispensable says why a pod must not go: others need what it has. One that does not
// answer may have anything.
func (t *Trial) dispensable(ctx context.Context, p *localpod.Pod) error {
	if t.isSentinel(p) {
		return nil
	}
	if !t.current.Cluster.IsCluster() {
		info, err := t.info(ctx, p)
		if err == nil && info["role"] != "slave" {
			err = fmt.Errorf("its role is %s", info["role"])
		}
		return err
	}
	reply, err := t.ask(ctx, p, "CLUSTER", "NODES")
	if err != nil {
		return err
	}
	text, err := reply.Text()
	if err != nil {
		return err
	}
	nodes, err := node.ParseNodes(text)
	if err != nil {
		return err
	}
	for _, e := range nodes {
		if e.Myself && e.Slots.Count() > 0 {
			return fmt.Errorf("it owns slots %s", e.Slots)
		}
	}
	return nil
}
