// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/converge"
	"github.com/valkey-render/valkey-render/topologyjob/plan"
	"github.com/valkey-render/valkey-render/topologyjob/slot"
)

// asReshard is the value of the annotation reshard.
type asReshard struct {
	From  *int32          `json:"from"`
	To    *int32          `json:"to"`
	Slots json.RawMessage `json:"slots"`
	Token string          `json:"token"`

	count  int
	ranges slot.Ranges
}

// parseReshard reads {"from":0,"to":1,"slots":1000,"token":"a"}, whose slots may be ranges
// too: "0-99,200".
func parseReshard(value string) (asReshard, error) {
	shape := errors.New(`must be {"from":0,"to":1,"slots":1000,"token":"TOKEN"}, whose slots are how many or, as "0-99", which`)
	var r asReshard
	decoder := json.NewDecoder(bytes.NewReader([]byte(value)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&r); err != nil || decoder.More() {
		return r, shape
	}
	var text string
	switch {
	case r.From == nil, r.To == nil, r.Token == "", *r.From < 0, *r.To < 0:
		return r, shape
	case json.Unmarshal(r.Slots, &r.count) == nil && r.count >= 1 && r.count <= name.SlotCount:
		return r, nil
	case json.Unmarshal(r.Slots, &text) != nil || text == "":
		return r, shape
	}
	ranges, err := slot.Parse(text)
	if err != nil {
		return r, fmt.Errorf("slots: %w", err)
	}
	r.ranges = ranges
	return r, nil
}

// reshard moves the slots that the annotation of that name asks for. Which these are is in
// the status before any of them moves: a Job that is started again moves no others. It
// reports whether it has the floor.
func (in Input) reshard(d *Decision, desired plan.Desired) bool {
	a, asked := in.asked(actionReshard)
	if !asked {
		return false
	}
	r, err := parseReshard(in.Cluster.Annotations[v1alpha1.AnnotationReshard])
	if err == nil {
		err = in.mayReshard()
	}
	if err != nil {
		in.fail(d, a, "%s", err)
		return false
	}
	desired.Reshard = &plan.Reshard{From: *r.From, To: *r.To, Count: r.count, Slots: r.ranges}
	if a.Progress != "" {
		picked, err := r.picked(a.Progress)
		if err != nil {
			in.fail(d, a, "%s", err)
			return false
		}
		desired.Reshard.Slots, desired.Reshard.Count = picked, 0
	}
	p := converge.Decide(desired, *in.Seen.View)
	switch {
	case p.Blocked != nil:
		if in.working() == nil {
			in.fail(d, a, "%s", p.Blocked.Message)
		}
		return false
	case len(p.Steps) == 0 && len(p.Waiting) > 0:
		d.wait(time.Second, "reshard: %s", p.Waiting[0].Message)
		return true
	case len(p.Steps) == 0:
		in.succeed(d, a, "Shard %d has the slots", *r.To)
		return false
	}
	if a.Progress == "" {
		for _, s := range p.Steps {
			if m, is := s.(plan.MoveSlots); is && len(m.Picked) > 0 {
				desired.Reshard.Slots, desired.Reshard.Count = m.Picked, 0
				a = in.progress(d, a, r.begun()+m.Picked.String())
			}
		}
	}
	if spent := in.launch(d, in.order(desired, p)); spent != nil {
		in.fail(d, a, "%s", said(*spent))
	}
	return true
}

// begun is what its progress starts with: between which shards the slots move that follow.
func (r asReshard) begun() string { return fmt.Sprintf("from=%d,to=%d,slots=", *r.From, *r.To) }

// picked are the slots of its progress. Those of another pair of shards were picked before the
// annotation was edited under the same token, and some may have moved.
func (r asReshard) picked(progress string) (slot.Ranges, error) {
	slots, same := strings.CutPrefix(progress, r.begun())
	if !same {
		return nil, fmt.Errorf("the annotation was edited after it had begun (%s): what it asks for now needs another token", progress)
	}
	picked, err := slot.Parse(slots)
	if err != nil {
		return nil, fmt.Errorf("its progress in the status names no slots: %w", err)
	}
	return picked, nil
}

// mayReshard says why slots are not moved by hand.
func (in Input) mayReshard() error {
	switch {
	case !in.Cluster.IsCluster():
		return fmt.Errorf("topology %s has no slots", in.Cluster.EffectiveTopology())
	case in.Cluster.RebalanceEnabled():
		return errors.New("spec.rebalance.enabled is true, and would move the slots back: set it to false first")
	}
	return nil
}
