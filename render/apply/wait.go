// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
)

// LeaseName is the name of the Lease that the reconciler's leader keeps fresh.
const LeaseName = "valkey-reconciler"

// Progress is how far Wait is.
type Progress struct {
	// Ready and Total count objects.
	Ready, Total int
	// Pending are the objects that are not ready.
	Pending []Status
	// Changed are those whose state or message is new since the last Progress.
	Changed []Status
}

// NotReadyError ends a Wait: what is not ready, and why it was given up.
type NotReadyError struct {
	// Pending are the objects that are not ready.
	Pending []Status
	// Err is the end of the context; nil when no object can become ready any more.
	Err error
}

// Error implements error, one line an object.
func (e *NotReadyError) Error() string {
	var errs []error
	for _, s := range e.Pending {
		errs = append(errs, fmt.Errorf("%s: %s: %s", s.ID, s.State, s.Message))
	}
	return errors.Join(errs...).Error()
}

func (e *NotReadyError) Unwrap() error { return e.Err }

// Wait looks at the objects of clusters until all are ready. It ends early when
// nothing can become ready any more, and with the end of ctx; both are a
// NotReadyError. A ValkeyCluster is only waited for where a reconciler runs.
func (a *Applier) Wait(ctx context.Context, clusters []Cluster) ([]Status, error) {
	w := a.newWaiter(ctx, clusters)
	return w.wait(ctx)
}

// Wait waits for what was applied, and deletes what was held as soon as it may go.
func (p *Plan) Wait(ctx context.Context) ([]Status, error) {
	var clusters []Cluster
	for _, u := range p.units {
		clusters = append(clusters, u.cluster)
	}
	w := p.applier.newWaiter(ctx, clusters)
	w.held = p.release
	return w.wait(ctx)
}

// release prunes again, and returns what is still there.
func (p *Plan) release(ctx context.Context) ([]Status, error) {
	var out []Status
	for _, u := range p.units {
		if len(u.stale) == 0 {
			continue
		}
		u.done = slices.DeleteFunc(u.done, func(c Change) bool { return c.Action == Held })
		told := p.applier.options.OnChange
		survivors, err := p.pruneTelling(ctx, u, func(c Change) {
			if c.Action == Held || c.Action == Deleted && c.Live.GetDeletionTimestamp() != nil {
				out = append(out, Status{ID: c.ID, State: Waiting, Message: c.Message})
				return
			}
			told(c)
		})
		if err == nil {
			err = p.promote(ctx, u, survivors)
		}
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

type waiter struct {
	applier *Applier
	ids     []ID
	// hashes are the render hashes of what was rendered.
	hashes     map[ID]string
	reconciler bool
	hibernates map[string]bool
	last       map[ID]Status
	// held looks at what is to go; nil without.
	held func(context.Context) ([]Status, error)
}

func (a *Applier) newWaiter(ctx context.Context, clusters []Cluster) *waiter {
	w := &waiter{applier: a, hashes: map[ID]string{}, hibernates: map[string]bool{}, last: map[ID]Status{}}
	w.reconciler = a.reconcilerRuns(ctx)
	for _, c := range clusters {
		w.ids = append(w.ids, c.ids()...)
		for _, o := range c.Objects {
			w.hashes[idOf(o)] = o.GetAnnotations()[v1alpha1.AnnotationRenderHash]
		}
		if spec := c.spec(); spec != nil {
			w.hibernates[c.Namespace+"/"+c.Name], _, _ = unstructured.NestedBool(spec.Object, "spec", "hibernate")
		}
	}
	return w
}

func (w *waiter) wait(ctx context.Context) ([]Status, error) {
	for {
		all, err := w.look(ctx)
		if err != nil && ctx.Err() == nil {
			return all, err
		}
		pending, waiting := w.tell(all)
		switch {
		case ctx.Err() != nil:
			return all, &NotReadyError{Pending: pending, Err: ctx.Err()}
		case len(pending) == 0:
			return all, nil
		case waiting == 0:
			return all, &NotReadyError{Pending: pending}
		}
		if err := pause(ctx, w.applier.options.Clock, w.applier.options.Interval); err != nil {
			return all, &NotReadyError{Pending: pending, Err: err}
		}
	}
}

// look reads every object that was not ready at the last look.
func (w *waiter) look(ctx context.Context) ([]Status, error) {
	all := make([]Status, len(w.ids))
	problems := make([]error, len(w.ids))
	w.applier.each(ctx, len(w.ids), func(ctx context.Context, i int) {
		id := w.ids[i]
		if last := w.last[id]; last.State == Ready || last.State == Unwatched {
			all[i] = last
			return
		}
		all[i], problems[i] = w.lookAt(ctx, id)
	}, func(int) {})
	if err := errors.Join(problems...); err != nil {
		return all, err
	}
	if w.held != nil {
		held, err := w.held(ctx)
		return append(all, held...), err
	}
	return all, nil
}

func (w *waiter) lookAt(ctx context.Context, id ID) (Status, error) {
	watched := id.Kind != v1alpha1.KindCluster && id.Kind != v1alpha1.KindACL
	if !watched && !w.reconciler {
		return Status{ID: id, State: Unwatched, Message: "no reconciler is running that would look after it"}, nil
	}
	live := id.object()
	err := w.applier.client.Get(ctx, client.ObjectKeyFromObject(live), live)
	absent := apierrors.IsNotFound(err)
	switch {
	case absent && id.Kind == "Job":
		return Status{ID: id, State: Stuck, Message: "is gone, and nobody has seen it complete"}, nil
	case absent:
		return Status{ID: id, State: Waiting, Message: "does not exist"}, nil
	case err != nil:
		last := w.last[id]
		last.ID, last.State = id, Waiting
		return last, &ObjectError{ID: id, Verb: "read", Err: err}
	}
	if live.GetAnnotations()[v1alpha1.AnnotationRenderHash] != w.hashes[id] {
		return Status{ID: id, State: Waiting, Message: "is not yet what is rendered"}, nil
	}
	s := StatusOf(live)
	if phase, _, _ := unstructured.NestedString(live.Object, "status", "phase"); id.Kind == "PersistentVolumeClaim" &&
		phase == "Pending" && w.hibernates[id.Namespace+"/"+live.GetLabels()[name.LabelCluster]] {
		// Nothing uses it, so nothing binds it.
		s.State, s.Message = Ready, ""
	}
	return s, nil
}

// tell reports what is new, and returns what is not ready and how much of it may
// become so.
func (w *waiter) tell(all []Status) (pending []Status, waiting int) {
	p := Progress{}
	for _, s := range all {
		if s.State == "" {
			s.State, s.Message = Waiting, "was not looked at"
		}
		p.Total++
		switch s.State {
		case Ready, Unwatched:
			p.Ready++
		case Waiting:
			waiting++
			pending = append(pending, s)
		default:
			pending = append(pending, s)
		}
		if last, seen := w.last[s.ID]; last != s && (seen || s.State != Ready) {
			p.Changed = append(p.Changed, s)
		}
		w.last[s.ID] = s
	}
	p.Pending = pending
	if len(p.Changed) > 0 {
		w.applier.options.OnWait(p)
	}
	return pending, waiting
}

// reconcilerRuns reports whether some namespace has a fresh Lease of a reconciler.
// Who may not list Leases is told nothing: then it is taken for running.
func (a *Applier) reconcilerRuns(ctx context.Context) bool {
	var leases coordinationv1.LeaseList
	if err := a.client.List(ctx, &leases, client.MatchingFields{"metadata.name": LeaseName}); err != nil {
		return true
	}
	for _, l := range leases.Items {
		if l.Spec.RenewTime == nil || l.Spec.LeaseDurationSeconds == nil || l.Spec.HolderIdentity == nil || *l.Spec.HolderIdentity == "" {
			continue
		}
		age := a.options.Clock.Since(l.Spec.RenewTime.Time).Seconds()
		if age < 2*float64(*l.Spec.LeaseDurationSeconds) {
			return true
		}
	}
	return false
}

// CheckReconciler notes that clusters expect a reconciler and none is running.
func (a *Applier) CheckReconciler(ctx context.Context, clusters []Cluster) {
	for _, c := range clusters {
		if c.spec() != nil && !a.reconcilerRuns(ctx) {
			a.options.OnNote(fmt.Sprintf("%s: no reconciler is running (no fresh Lease %s): Secrets, topology, rolls and status wait for one", c, LeaseName))
			return
		}
	}
}
