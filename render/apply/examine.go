// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/fluxcd/pkg/ssa"
	ssaerrors "github.com/fluxcd/pkg/ssa/errors"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
)

// step is one object that is to be applied.
type step struct {
	// object as it is applied, which may differ from the rendered one (claims).
	object *unstructured.Unstructured
	change Change
	notes  []string
	// unowned says that the live object is right and none of it is ours.
	unowned bool
	// nameless says that no field of the live object has an owner.
	nameless bool
}

// due reports whether there is anything to write.
func (s *step) due() bool { return s.change.Action == Created || s.change.Action == Configured }

// examine reads an object and lets the server say what applying it would change.
func (a *Applier) examine(ctx context.Context, cluster Cluster, rendered *unstructured.Unstructured) step {
	id := idOf(rendered)
	s := step{object: rendered.DeepCopy(), change: Change{ID: id}}
	ctx, read := withReading(ctx)
	live := id.object()
	err := a.client.Get(ctx, client.ObjectKeyFromObject(live), live)
	if client.IgnoreNotFound(err) != nil {
		s.change = failed(id, err)
		return s
	}
	read.again = true
	if read.live != nil {
		if err := a.checkOwner(cluster, read.live); err != nil {
			s.change = failed(id, err)
			return s
		}
		s.notes = append(s.notes, fitClaim(s.object, read.live)...)
	}
	entry, before, after, err := a.manager.Diff(ctx, s.object.DeepCopy(), ssa.DefaultDiffOptions())
	if err != nil {
		s.change = failed(id, refusal(err, read.live, s.object))
		return s
	}
	s.change.Live = read.live
	switch entry.Action {
	case ssa.CreatedAction:
		s.change.Action, s.change.Next = Created, s.object
	case ssa.ConfiguredAction:
		s.change.Action, s.change.Live, s.change.Next = Configured, before, after
	default:
		s.change.Action, s.change.Live = Unchanged, nil
	}
	if read.live != nil {
		s.takeOver(read.live)
	}
	return s
}

// takeOver makes a write due for an object that is right and not yet ours.
func (s *step) takeOver(live *unstructured.Unstructured) {
	taken, others := claimants(live)
	s.unowned = !isOwned(live)
	s.nameless = len(live.GetManagedFields()) == 0 && takesOver(live)
	if len(taken) > 0 {
		s.change.Message = "takes over what was written by " + strings.Join(taken, ", ")
	}
	if len(others) > 0 {
		s.notes = append(s.notes, fmt.Sprintf("%s: %s applies it too: two appliers undo each other's changes", s.change.ID, strings.Join(others, ", ")))
	}
	if s.change.Action == Unchanged && (s.unowned || needsTakeover(live)) {
		s.change.Action, s.change.Live, s.change.Next = Configured, live, live
		if s.change.Message == "" {
			s.change.Message = "becomes owned by " + FieldManager
		}
	}
}

// checkOwner refuses an object of somebody else that has the name of ours.
func (a *Applier) checkOwner(cluster Cluster, live *unstructured.Unstructured) error {
	owner := live.GetLabels()[name.LabelCluster]
	own := live.GetKind() == v1alpha1.KindCluster && live.GetName() == cluster.Name
	switch {
	case owner == cluster.Name, own, a.options.Adopt && owner == "":
		return nil
	case owner != "":
		return fmt.Errorf("%w: it exists and belongs to %s %s", ErrRefused, v1alpha1.KindCluster, owner)
	}
	by := "unknown"
	if all := writers(live); len(all) > 0 {
		by = strings.Join(all, ", ")
	}
	return fmt.Errorf("%w: it exists and is not labelled as an object of %s (written by %s): rename the cluster, remove the object, or take it over with --adopt", ErrRefused, cluster, by)
}

// refusal unwraps the error of the library to what the server said.
func refusal(err error, live, rendered *unstructured.Unstructured) error {
	if dry, ok := errors.AsType[*ssaerrors.DryRunErr](err); ok {
		err = dry.Unwrap()
	} else if inner := errors.Unwrap(err); inner != nil && strings.HasPrefix(err.Error(), rendered.GetKind()+"/") {
		err = inner
	}
	if immutable := asImmutable(err, live, rendered); immutable != nil {
		return immutable
	}
	return err
}

// conflictRetries is how often an object is compared again when it was changed
// between reading and writing.
const conflictRetries = 4

// write applies an object: read, dry-run, compare, and only then apply.
func (a *Applier) write(ctx context.Context, s *step) Change {
	for attempt := 0; ; attempt++ {
		action, err := a.writeOnce(ctx, s)
		if err == nil {
			c := s.change
			if action != ssa.CreatedAction && c.Action == Created {
				c.Action = Configured
			}
			return c
		}
		if !apierrors.IsConflict(err) || attempt == conflictRetries {
			return failed(s.change.ID, refusal(err, s.change.Live, s.object))
		}
	}
}

func (a *Applier) writeOnce(ctx context.Context, s *step) (ssa.Action, error) {
	ctx, _ = withReading(ctx)
	entry, err := a.manager.Apply(ctx, s.object.DeepCopy(), applyOptions(s.object))
	if err != nil {
		return "", err
	}
	if entry.Action == ssa.ConfiguredAction && s.nameless {
		// The server has just given the fields that had no owner one of whom they can
		// be taken over.
		if _, err := a.manager.Apply(ctx, s.object.DeepCopy(), applyOptions(s.object)); err != nil {
			return "", err
		}
	}
	if entry.Action == ssa.UnchangedAction && s.unowned {
		return ssa.ConfiguredAction, a.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(s.object.DeepCopy()), client.ForceOwnership, client.FieldOwner(FieldManager))
	}
	return entry.Action, nil
}
