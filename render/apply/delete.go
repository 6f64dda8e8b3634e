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
	changes, err := a.judgeTargets(ctx, g.open(), targets)
	if err != nil {
		return result, err
	}
	if err := mayDelete(c, g, record, changes); err != nil {
		return result, err
	}
	if o.DryRun {
		result.Changes = changes
		return result, nil
	}
	if len(changes) == 0 && record.live == nil {
		return result, nil
	}
	before := *record
	if err := a.recordDelete(ctx, c, record, targets); err != nil {
		return result, err
	}
	for _, change := range changes {
		done, err := a.removeTarget(ctx, c, record, changes, change)
		if err != nil {
			return result, a.takeBack(ctx, c, record, before, err)
		}
		a.options.OnChange(done)
		result.Changes = append(result.Changes, done)
		if done.key() == c.clusterID().key() && done.Action == Failed {
			// The server says no to the whole.
			return result, a.takeBack(ctx, c, record, before, joinFailures(result.Changes))
		}
	}
	return result, errors.Join(joinFailures(result.Changes), a.forget(ctx, c, record, failures(result.Changes)))
}

// removeTarget deletes one object. Before the ValkeyCluster goes it looks again
// whether it may: that takes all the rest with it. Its error is that it may not.
func (a *Applier) removeTarget(ctx context.Context, c Cluster, record *inventory, all []Change, change Change) (Change, error) {
	if change.key() == c.clusterID().key() {
		g, err := a.readGuard(ctx, c, nil)
		if err != nil {
			return change, err
		}
		if err := mayDelete(c, g, record, all); err != nil {
			return change, err
		}
	}
	return a.remove(ctx, change), nil
}

// takeBack makes the inventory what it was before a delete that was refused: with
// the intent in it, a later one would not ask. After any other error the delete may
// have come through, and the intent stays.
func (a *Applier) takeBack(ctx context.Context, c Cluster, record *inventory, before inventory, refused error) error {
	if !IsRefusal(refused) {
		return refused
	}
	if before.live == nil {
		return errors.Join(refused, a.deleteInventory(ctx, c, record))
	}
	record.objects, record.pending, record.intent = before.objects, before.pending, ""
	return errors.Join(refused, a.save(ctx, c, record))
}

// failures are what could not be deleted.
func failures(changes []Change) []ID {
	var out []ID
	for _, c := range changes {
		if c.Action == Failed {
			out = append(out, c.ID)
		}
	}
	return out
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
func mayDelete(c Cluster, g guard, record *inventory, changes []Change) error {
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
	case c.Spec != nil && c.Spec.DeletionGuarded():
		return fmt.Errorf("%s: delete %w: its spec guards it: set spec.deletionPolicy to Allow first", c, ErrRefused)
	case c.Spec != nil:
		return nil
	case spec != nil && nested(spec.Object, "spec", "deletionPolicy") == string(v1alpha1.DeletionAllow):
		return nil
	case len(record.known()) == 0 && spec == nil:
		return fmt.Errorf("%s: delete %w: there is none, and no inventory of one", c, ErrRefused)
	case !slices.ContainsFunc(changes, mayHaveData):
		return nil
	}
	return fmt.Errorf("%s: delete %w: there is no ValkeyCluster that says whether its data may go: name the spec with -f; unless it has jobs: Rendered, set deletionPolicy Allow in it", c, ErrRefused)
}

// mayHaveData reports whether an object that is to go runs servers with data.
func mayHaveData(c Change) bool {
	if c.Action != Deleted || c.Kind != "StatefulSet" {
		return false
	}
	_, belongs := shardOf(c.Live)
	return belongs
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
	return a.save(ctx, c, record)
}

// forget deletes the inventory when nothing is left to remember. What the server
// has begun to delete is: nobody can take that back.
func (a *Applier) forget(ctx context.Context, c Cluster, record *inventory, survivors []ID) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if len(survivors) == 0 {
		return a.deleteInventory(ctx, c, record)
	}
	record.objects = survivors
	return a.save(ctx, c, record)
}

// deleteInventory deletes the very inventory that was written: another run that
// has begun since has one of its own.
func (a *Applier) deleteInventory(ctx context.Context, c Cluster, record *inventory) error {
	id := inventoryID(c.Namespace, c.Name)
	if err := a.before("delete " + id.String()); err != nil {
		return err
	}
	uid, version := record.live.GetUID(), record.live.GetResourceVersion()
	err := a.client.Delete(ctx, record.live, client.Preconditions{UID: &uid, ResourceVersion: &version})
	if client.IgnoreNotFound(err) != nil {
		return &ObjectError{ID: id, Verb: "delete", Err: err}
	}
	return nil
}
