// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
)

// DeleteOptions of Delete.
type DeleteOptions struct {
	// DryRun says what would be deleted.
	DryRun bool
}

// Delete deletes what apply made for a cluster, its claims excepted. The
// ValkeyCluster goes first: its deletionPolicy, and the guard policies of the
// server, decide on the whole before a part is gone. A delete that was
// interrupted goes on when it is called again.
func (a *Applier) Delete(ctx context.Context, c Cluster, o DeleteOptions) (Result, error) {
	result := Result{Namespace: c.Namespace, Name: c.Name, Changes: []Change{}}
	if !c.Complete {
		return a.deletePart(ctx, c, o)
	}
	record, err := readInventory(ctx, a.client, c.Namespace, c.Name)
	if err != nil {
		return result, err
	}
	g, err := a.readGuard(ctx, c, nil)
	if err != nil {
		return result, err
	}
	targets := union(record.known(), c.ids())
	if len(targets) == 0 && g.found {
		targets = []ID{c.clusterID()}
	}
	if err := mayDelete(c, g, record); err != nil {
		return result, err
	}
	// From here on nothing of it is guarded any more.
	g.policy = string(v1alpha1.DeletionAllow)
	changes, err := a.judgeTargets(ctx, g, targets)
	if err != nil {
		return result, err
	}
	if o.DryRun {
		result.Changes = changes
		return result, nil
	}
	if err := a.recordDelete(ctx, c, record, targets); err != nil {
		return result, err
	}
	for _, change := range changes {
		done := a.remove(ctx, change)
		a.options.OnChange(done)
		result.Changes = append(result.Changes, done)
		if done.ID == c.clusterID() && done.Action == Failed {
			// The server says no to the whole.
			return result, joinFailures(result.Changes)
		}
	}
	return result, errors.Join(joinFailures(result.Changes), a.forget(ctx, c, record, surviving(result.Changes)))
}

// deletePart deletes the very objects of a cluster that is rendered elsewhere.
func (a *Applier) deletePart(ctx context.Context, c Cluster, o DeleteOptions) (Result, error) {
	result := Result{Namespace: c.Namespace, Name: c.Name, Changes: []Change{}}
	changes, err := a.judgeTargets(ctx, guard{cluster: c}, c.ids())
	if err != nil {
		return result, err
	}
	for _, change := range changes {
		if !o.DryRun {
			change = a.remove(ctx, change)
			a.options.OnChange(change)
		}
		result.Changes = append(result.Changes, change)
	}
	return result, joinFailures(result.Changes)
}

// mayDelete refuses to delete a cluster that is guarded, or of which it is not
// known whether it is.
func mayDelete(c Cluster, g guard, record *inventory) error {
	spec := c.spec()
	switch {
	case record.intent == intentDelete && !g.found:
		return nil
	case g.found:
		guarded := v1alpha1.ValkeyCluster{Spec: v1alpha1.ValkeyClusterSpec{
			DeletionPolicy: v1alpha1.DeletionPolicy(g.policy), Profile: v1alpha1.Profile(g.profile),
		}}
		if guarded.DeletionGuarded() {
			return fmt.Errorf("%s: delete %w: set spec.deletionPolicy to Allow and apply it first", c, ErrRefused)
		}
		return nil
	case spec != nil && nested(spec.Object, "spec", "deletionPolicy") == string(v1alpha1.DeletionAllow):
		return nil
	case len(record.known()) == 0 && spec == nil:
		return fmt.Errorf("%s: delete %w: there is none, and no inventory of one", c, ErrRefused)
	case len(record.known()) == 0:
		return nil
	}
	return fmt.Errorf("%s: delete %w: the ValkeyCluster is gone, and what is left of it may have data; name a spec with deletionPolicy Allow with -f", c, ErrRefused)
}

func nested(object map[string]any, path ...string) string {
	var at any = object
	for _, key := range path {
		m, ok := at.(map[string]any)
		if !ok {
			return ""
		}
		at = m[key]
	}
	text, _ := at.(string)
	return text
}

// judgeTargets puts the ValkeyCluster first and the rest in reverse order.
func (a *Applier) judgeTargets(ctx context.Context, g guard, targets []ID) ([]Change, error) {
	var out []Change
	for _, id := range slices.Backward(targets) {
		change, err := a.judge(ctx, g, id)
		if err != nil {
			return nil, err
		}
		switch {
		case change.Action == "":
		case id.key() == g.cluster.clusterID().key():
			// Whatever its labels say: it was named.
			change.Action, change.Message = Deleted, ""
			out = slices.Insert(out, 0, change)
		default:
			out = append(out, change)
		}
	}
	return out, nil
}

func (a *Applier) recordDelete(ctx context.Context, c Cluster, record *inventory, targets []ID) error {
	record.objects, record.pending, record.intent = targets, nil, intentDelete
	if record.stored() {
		return nil
	}
	if err := a.before("write " + inventoryID(c.Namespace, c.Name).String()); err != nil {
		return err
	}
	return record.write(ctx, a.client, c.Namespace, c.Name)
}

// forget deletes the inventory when nothing is left to remember.
func (a *Applier) forget(ctx context.Context, c Cluster, record *inventory, survivors []ID) error {
	id := inventoryID(c.Namespace, c.Name)
	if err := ctx.Err(); err != nil {
		return ctx.Err()
	}
	if err := a.before("delete " + id.String()); err != nil {
		return err
	}
	if len(survivors) > 0 {
		record.objects = survivors
		return record.write(ctx, a.client, c.Namespace, c.Name)
	}
	uid := record.live.GetUID()
	err := a.client.Delete(ctx, record.live, client.Preconditions{UID: &uid})
	if client.IgnoreNotFound(err) != nil {
		return &ObjectError{ID: id, Verb: "delete", Err: err}
	}
	return nil
}

// WaitGone waits until what was deleted no longer exists.
func (a *Applier) WaitGone(ctx context.Context, results []Result) error {
	var ids []ID
	for _, r := range results {
		for _, c := range r.Changes {
			if c.Action == Deleted {
				ids = append(ids, c.ID)
			}
		}
	}
	last := map[ID]Status{}
	w := &waiter{applier: a, last: last, held: func(ctx context.Context) ([]Status, error) {
		var out []Status
		for _, id := range ids {
			live := id.object()
			err := a.client.Get(ctx, client.ObjectKeyFromObject(live), live)
			switch {
			case isNotInstalled(err), err != nil && client.IgnoreNotFound(err) == nil:
			case err != nil:
				return out, &ObjectError{ID: id, Verb: "read", Err: err}
			default:
				out = append(out, Status{ID: id, State: Waiting, Message: "is being deleted"})
			}
		}
		return out, nil
	}}
	_, err := w.wait(ctx)
	return err
}
