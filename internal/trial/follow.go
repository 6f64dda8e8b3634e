// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/valkey-render/valkey-render/internal/localpod"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/render/plan"
)

// ErrNotFollowed begins the error of a change that is not made; what runs stays as it was.
var ErrNotFollowed = errors.New("not followed")

// Follow makes what runs into what another rendering of the same cluster asks for, as it
// would happen on Kubernetes: directives that apply live are set, pods whose template
// changed are replaced one at a time, with handover, and new ones are started. What
// would lose data, or cannot be done while the cluster runs, is ErrNotFollowed, before
// anything was changed.
func (t *Trial) Follow(ctx context.Context, next Rendering) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	before := t.current
	effects := plan.Compare(before.Objects, next.Objects)
	if err := t.refuse(before, next, effects); err != nil {
		return err
	}
	if err := t.setLive(ctx, next); err != nil {
		// The files of the pods are still the old ones.
		return fmt.Errorf("%w: live directives: %w", ErrNotFollowed, err)
	}
	usersBefore := t.aclText()
	t.current = next
	if err := t.apply(next); err != nil {
		return err
	}
	if string(usersBefore) != string(t.aclText()) {
		if err := t.setUsers(ctx); err != nil {
			return err
		}
		t.note("the users of every server are those of the spec now")
	}
	for _, set := range gone(before, next) {
		t.host.Remove(set)
	}
	// Servers that start now find the others as they are, and a pod that goes has to
	// whom to hand over.
	if err := t.converge(ctx); err != nil {
		return err
	}
	if err := t.roll(ctx); err != nil {
		return err
	}
	if err := t.moveSlots(ctx); err != nil {
		return err
	}
	return t.shrink(ctx)
}

// aclText is what the ACL files are made of, in one piece.
func (t *Trial) aclText() []byte {
	data := t.secrets[name.ACLSecret(t.current.Cluster.Name)].Data
	var text []byte
	for _, key := range slices.Sorted(maps.Keys(data)) {
		text = append(text, data[key]...)
	}
	return text
}

// refuse finds what is not followed.
func (t *Trial) refuse(before, next Rendering, effects plan.Plan) error {
	a, b := before.Cluster, next.Cluster
	var why []error
	if a.Name != b.Name || a.Namespace != b.Namespace {
		why = append(why, fmt.Errorf("the cluster is %s/%s now and was %s/%s: end this and begin again", b.Namespace, b.Name, a.Namespace, a.Name))
	} else {
		for _, e := range effects.Blocked() {
			why = append(why, errors.New(e.Message))
		}
		if b.Spec.Suspend && len(gone(before, next)) > 0 {
			why = append(why, errors.New("shards stay while spec.suspend is true: nothing moves their slots away"))
		}
		if a.ServerVersion() != b.ServerVersion() {
			why = append(why, fmt.Errorf("servers of %s are needed for spec.version: end this and begin again, with --server", b.ServerVersion()))
		}
		if a.EffectiveTopology() != b.EffectiveTopology() || a.TLSEnabled() != b.TLSEnabled() || a.Port() != b.Port() {
			why = append(why, errors.New("topology, TLS and port cannot change while the cluster runs"))
		}
	}
	if err := errors.Join(why...); err != nil {
		return fmt.Errorf("%w: %w", ErrNotFollowed, err)
	}
	return nil
}

// gone are the StatefulSets that a rendering has no more.
func gone(before, next Rendering) []string {
	there := map[string]bool{}
	for _, o := range next.Objects {
		there[o.GetKind()+"/"+o.GetName()] = true
	}
	var sets []string
	for _, o := range before.Objects {
		if o.GetKind() == "StatefulSet" && !there["StatefulSet/"+o.GetName()] {
			sets = append(sets, o.GetName())
		}
	}
	return sets
}

// roll replaces the pods that were made of another template, one at a time: replicas
// first, so that a primary hands over to a server of the new template.
func (t *Trial) roll(ctx context.Context) error {
	if count := len(t.outdated()); count > 0 {
		t.note("%d pods have another template and are replaced, replicas first", count)
	}
	for {
		p, err := t.nextOutdated(ctx)
		if err != nil || p == nil {
			return err
		}
		t.note("%s is replaced", p.Name())
		if err := p.Delete(ctx); err != nil {
			return err
		}
		// Everything is together and in sync again before the next one goes.
		if err := t.converge(ctx); err != nil {
			return err
		}
	}
}

// outdated are the pods that were made of another template, sentinels first.
func (t *Trial) outdated() []*localpod.Pod {
	data, sentinels := t.dataPods()
	return slices.DeleteFunc(append(sentinels, data...), func(p *localpod.Pod) bool { return !p.Outdated() })
}

func (t *Trial) nextOutdated(ctx context.Context) (*localpod.Pod, error) {
	var primary *localpod.Pod
	for _, p := range t.outdated() {
		if t.isSentinel(p) {
			return p, nil
		}
		info, err := t.info(ctx, p)
		if err != nil {
			return nil, err
		}
		if info["role"] != "master" {
			return p, nil
		}
		if primary == nil {
			primary = p
		}
	}
	return primary, nil
}
