// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/cmd/valkey-topology/internal/argument"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/converge"
	"github.com/valkey-render/valkey-render/topologyjob/plan"
)

// moves are the flags that say how slots move.
type moves struct {
	rebalance                 bool
	batchSlots, maxConcurrent int32
	presentShards             int32
	reshard                   string
}

func (m *moves) addTo(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&m.rebalance, "rebalance", false, "a drain makes the shards that stay even as well (default of the spec)")
	flags.Int32Var(&m.batchSlots, "batch-slots", 0, "slots of one move (default of the spec, 512)")
	flags.Int32Var(&m.maxConcurrent, "max-concurrent", 0, "moves at a time (default of the spec, 4)")
	flags.Int32Var(&m.presentShards, "present-shards", 0, "shards that there are now, when these are more than are wanted")
	flags.StringVar(&m.reshard, "reshard", "", "`from=N,to=N,slots=COUNT` to move, or slots=FIRST-LAST, which can be run again without moving more")
}

// apply fills in what is wanted of the slots.
func (m *moves) apply(d *plan.Desired, c *v1alpha1.ValkeyCluster) error {
	d.Drain, d.RebalanceEnabled = true, m.rebalance
	d.BatchSlots, d.MaxConcurrent = int(m.batchSlots), int(m.maxConcurrent)
	if c != nil {
		d.RebalanceEnabled = d.RebalanceEnabled || c.RebalanceEnabled()
		if d.BatchSlots == 0 {
			d.BatchSlots = int(c.RebalanceBatchSlots())
		}
		if d.MaxConcurrent == 0 {
			d.MaxConcurrent = int(c.RebalanceMaxConcurrent())
		}
	}
	var problems []error
	if d.BatchSlots < 0 || d.BatchSlots > name.SlotCount {
		problems = append(problems, fmt.Errorf("--batch-slots %d: must be 1 to %d", d.BatchSlots, name.SlotCount))
	}
	if d.MaxConcurrent < 0 {
		problems = append(problems, fmt.Errorf("--max-concurrent %d: must not be negative", d.MaxConcurrent))
	}
	if m.presentShards < 0 || m.presentShards > name.SlotCount {
		problems = append(problems, fmt.Errorf("--present-shards %d: must be 1 to %d", m.presentShards, name.SlotCount))
	}
	reshard, err := argument.Reshard(m.reshard)
	if err != nil {
		problems = append(problems, fmt.Errorf("--reshard %q: %w", m.reshard, err))
	}
	d.Reshard = reshard
	return errors.Join(append(problems, m.beyond(d))...)
}

// beyond is what is wrong with shards that are named.
func (m *moves) beyond(d *plan.Desired) error {
	if d.Shards < 1 {
		return nil
	}
	var problems []error
	if m.presentShards > 0 && m.presentShards < d.Shards {
		problems = append(problems, fmt.Errorf("--present-shards %d: %d are wanted: give it when there are more", m.presentShards, d.Shards))
	}
	if r := d.Reshard; r != nil {
		// What goes may be emptied by hand, and what is not there cannot be filled.
		if there := max(d.Shards, m.presentShards); r.From >= there {
			problems = append(problems, fmt.Errorf("--reshard from=%d: there are shards 0 to %d, unless --present-shards says more", r.From, there-1))
		}
		if r.To >= d.Shards {
			problems = append(problems, fmt.Errorf("--reshard to=%d: shards 0 to %d are wanted", r.To, d.Shards-1))
		}
	}
	return errors.Join(problems...)
}

// needsReshard is what is wrong with a reshard that says nothing.
func needsReshard(kind converge.Kind, d plan.Desired) error {
	if kind == converge.Reshard && d.Reshard == nil {
		return errors.New("--reshard is missing: which slots")
	}
	return nil
}

// progress narrates moves of slots, a line every other second.
func (r *runner) progress() func(converge.Progress) {
	var last time.Time
	return func(p converge.Progress) {
		if now := r.sys.Clock.Now(); p.Slots >= p.Of || now.Sub(last) >= 2*time.Second {
			last = now
			fmt.Fprintf(r.sys.Err, "moved: %s\n", p)
		}
	}
}
