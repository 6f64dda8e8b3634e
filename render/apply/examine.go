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
	// rendered is the object as it should be.
	rendered *unstructured.Unstructured
	// object is what is applied, which may differ from the rendered one (claims).
	object *unstructured.Unstructured
	change Change
	notes  []note
	// grows says that a claim is smaller than rendered and cannot grow yet.
	grows bool
	// unowned says that the live object is right and none of it is ours.
	unowned bool
	// nameless says that no field of the live object has an owner.
	nameless bool
	// completed says that the live object is a Job that will not run any more.
	completed bool
}

// note is what deserves attention about an object.
type note struct {
	about ID
	text  string
	// common says that it is told once of all objects of the cluster that it is true of.
	common bool
}

// String names the object first.
func (n note) String() string { return n.about.String() + ": " + n.text }

func (s *step) note(format string, args ...any) {
	s.notes = append(s.notes, note{about: idOf(s.object), text: fmt.Sprintf(format, args...)})
}

// due reports whether there is anything to write.
func (s *step) due() bool { return s.change.Action == Created || s.change.Action == Configured }

// look reads the live object of a step and fits the step to it. What follows in
// the context that it returns is about that very reading.
func (a *Applier) look(ctx context.Context, cluster Cluster, s *step) (context.Context, *reading, error) {
	ctx, read := withReading(ctx)
	live := idOf(s.rendered).object()
	err := a.client.Get(ctx, client.ObjectKeyFromObject(live), live)
	if client.IgnoreNotFound(err) != nil {
		return ctx, read, err
	}
	read.again = true
	s.object, s.notes, s.grows = s.rendered.DeepCopy(), nil, false
	if read.live == nil {
		return ctx, read, nil
	}
	if err := a.checkOwner(cluster, read.live); err != nil {
		return ctx, read, err
	}
	if err := s.checkGoing(read.live); err != nil {
		return ctx, read, err
	}
	s.fitClaim(read.live)
	return ctx, read, nil
}

// examine looks at an object and lets the server say what applying it would change.
func (a *Applier) examine(ctx context.Context, cluster Cluster, rendered *unstructured.Unstructured) step {
	id := idOf(rendered)
	s := step{rendered: rendered, change: Change{ID: id}}
	ctx, read, err := a.look(ctx, cluster, &s)
	if err != nil {
		s.change = failed(id, err)
		return s
	}
	entry, before, after, err := a.manager.Diff(ctx, s.object.DeepCopy(), ssa.DefaultDiffOptions())
	if err != nil && read.live == nil && lacksRole(rendered, err) && makesRole(cluster, rendered) {
		s.change.Action, s.change.Next = Created, s.object
		return s
	}
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
		s.completed = id.Kind == "Job" && StatusOf(read.live).State == Ready
		a.takeOver(ctx, &s, read.live, read.patched)
	}
	return s
}

// takeOver makes a write due for an object that is right and not yet ours, and
// finds what goes with those that it is taken over from. applied is the result of
// the dry run.
func (a *Applier) takeOver(ctx context.Context, s *step, live, applied *unstructured.Unstructured) {
	taken, others := claimants(live)
	s.unowned = !isOwned(live)
	s.nameless = len(live.GetManagedFields()) == 0 && takesOver(live)
	if len(taken) > 0 {
		s.change.Message = "takes over what was written by " + strings.Join(taken, ", ")
	}
	if len(others) > 0 {
		text := strings.Join(others, ", ") + " applies it too: two appliers undo each other's changes"
		s.notes = append(s.notes, note{about: s.change.ID, text: text, common: true})
	}
	if needsTakeover(live) || needsTakeover(applied) {
		next, err := a.dryRunTakeover(ctx, live, applied)
		if err != nil {
			err = fmt.Errorf("taking it over from %s: %w", strings.Join(taken, ", "), refusal(err, live, next))
			s.change = failed(s.change.ID, err)
			return
		}
		if s.change.Action == Configured || differ(live, next) {
			s.change.Action, s.change.Live, s.change.Next = Configured, live, next
		}
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

// checkGoing refuses to change an object that is being deleted: the change would
// go with it. A claim stays until the last pod that uses it ends, and is no reason
// to change nothing of a cluster that runs.
func (s *step) checkGoing(live *unstructured.Unstructured) error {
	switch {
	case live.GetDeletionTimestamp() == nil:
		return nil
	case live.GetKind() == "PersistentVolumeClaim":
		s.note("is being deleted: it goes, with its data, when the pod that uses it ends")
		return nil
	}
	return fmt.Errorf("%w: it is being deleted: apply again when it is gone", ErrRefused)
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

// write applies an object: read, check, dry-run, compare, and only then apply.
func (a *Applier) write(ctx context.Context, cluster Cluster, s *step) Change {
	for attempt := 0; ; attempt++ {
		action, err := a.writeOnce(ctx, cluster, s)
		if err == nil {
			c := s.change
			if action != ssa.CreatedAction && c.Action == Created {
				c.Action = Configured
			}
			return c
		}
		if lacksRole(s.rendered, err) && makesRole(cluster, s.rendered) && attempt < roleTries && pause(ctx, a.options.Clock, rolePause) == nil {
			continue
		}
		if !apierrors.IsConflict(err) || attempt >= conflictRetries {
			return failed(s.change.ID, refusal(err, s.change.Live, s.object))
		}
	}
}

// writeOnce looks again before it applies: since the plan, the object may have
// been made by somebody else, or a claim may have grown.
func (a *Applier) writeOnce(ctx context.Context, cluster Cluster, s *step) (ssa.Action, error) {
	ctx, read, err := a.look(ctx, cluster, s)
	if err != nil {
		return "", err
	}
	if s.object.GetKind() == "PersistentVolumeClaim" && read.live != nil {
		// A claim that grows between reading and applying would shrink again: the
		// server takes any size that is not below the volume's.
		s.object.SetResourceVersion(read.live.GetResourceVersion())
	}
	entry, err := a.manager.Apply(ctx, s.object.DeepCopy(), applyOptions(s.object))
	if err != nil {
		return "", err
	}
	read.again = false
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
