// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
)

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
	// Err is the end of the context; nil when an object has failed for good.
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

// Wait looks at the objects of clusters until all are ready. It ends early when one
// has failed for good, and with the end of ctx; both are a NotReadyError. A
// ValkeyCluster is only waited for where a reconciler runs.
func (a *Applier) Wait(ctx context.Context, clusters []Cluster) ([]Status, error) {
	w := a.newWaiter(ctx, clusters)
	return w.wait(ctx)
}

type waiter struct {
	applier *Applier
	ids     []ID
	// hashes are the render hashes of what was rendered.
	hashes map[ID]string
	// alone are the objects that a reconciler should look after, and none does.
	alone      map[ID]bool
	hibernates map[string]bool
	// sizes are what claims are rendered to ask for.
	sizes map[ID]resource.Quantity
	last  map[ID]Status
	// told are the causes that were told.
	told map[ID]Status
	// held looks at what is to go or to grow; nil without.
	held func(context.Context) ([]Status, error)
	// going is what held saw last.
	going []Status
	// looked says that the server has answered a whole look.
	looked bool
	// applied says that the objects were there before, so that a Job which is not has
	// been deleted. Else it may be that nobody has applied it yet.
	applied bool
}

func (a *Applier) newWaiter(ctx context.Context, clusters []Cluster) *waiter {
	w := &waiter{applier: a, hashes: map[ID]string{}, alone: map[ID]bool{}, hibernates: map[string]bool{}, sizes: map[ID]resource.Quantity{}, last: map[ID]Status{}, told: map[ID]Status{}}
	reconcilers := a.reconcilers(ctx)
	for _, c := range clusters {
		w.ids = append(w.ids, c.ids()...)
		if own := ofReconciler(c.ids()); len(own) > 0 && !a.watched(ctx, reconcilers, c) {
			for _, id := range own {
				w.alone[id] = true
			}
		}
		for _, o := range c.Objects {
			w.hashes[idOf(o)] = o.GetAnnotations()[v1alpha1.AnnotationRenderHash]
			if size, ok := quantityAt(o, requestPath()...); ok && o.GetKind() == "PersistentVolumeClaim" {
				w.sizes[idOf(o)] = size
			}
		}
		if c.Spec != nil {
			w.hibernates[c.Namespace+"/"+c.Name] = c.Spec.Spec.Hibernate
		}
		if spec := c.spec(); spec != nil {
			w.hibernates[c.Namespace+"/"+c.Name], _, _ = unstructured.NestedBool(spec.Object, "spec", "hibernate")
		}
	}
	return w
}

func (w *waiter) wait(ctx context.Context) ([]Status, error) {
	again, quiet := false, 0
	for {
		all, remembered, err := w.look(ctx, again)
		if err != nil && ctx.Err() == nil {
			return all, err
		}
		pending, news, stuck := w.tell(all)
		if quiet++; news {
			quiet = 0
		}
		switch {
		case ctx.Err() != nil:
			return all, w.giveUp(ctx, pending)
		case len(pending) == 0 && remembered:
			// What was ready once may have stopped to be: all at one look is what counts.
			again = true
			continue
		case len(pending) == 0:
			return all, nil
		case stuck:
			return all, w.giveUp(ctx, pending)
		case quiet == patience:
			w.explain(ctx, pending, len(all))
			quiet = 0
		}
		again = false
		if err := pause(ctx, w.applier.options.Clock, w.applier.options.Interval); err != nil {
			return all, w.giveUp(ctx, pending)
		}
	}
}

// giveUp says what is not ready and why, as far as that can be told.
func (w *waiter) giveUp(ctx context.Context, pending []Status) error {
	if w.looked {
		w.explainPending(ctx, pending)
	}
	return &NotReadyError{Pending: pending, Err: ctx.Err()}
}

// look reads every object that was not ready at the last look, or again all of
// them. It says whether it left some out.
func (w *waiter) look(ctx context.Context, again bool) (all []Status, remembered bool, err error) {
	all = make([]Status, len(w.ids))
	problems := make([]error, len(w.ids))
	for i, id := range w.ids {
		last := w.last[id]
		// A Job that has completed stays so, and may be cleaned up.
		if last.State == Unwatched || last.State == Ready && (!again || id.Kind == "Job") {
			all[i] = last
			remembered = remembered || last.State == Ready && id.Kind != "Job"
		}
	}
	w.applier.each(ctx, len(w.ids), func(ctx context.Context, i int) {
		if all[i].State == "" {
			all[i], problems[i] = w.lookAt(ctx, w.ids[i])
		}
	}, func(int) {})
	if err := w.tolerate(joinReads(problems)); err != nil {
		return all, remembered, err
	}
	if w.held != nil {
		held, err := w.held(ctx)
		if err == nil {
			w.going = held
		}
		if err := w.tolerate(err); err != nil {
			return append(all, held...), remembered, err
		}
	}
	w.looked = true
	return append(all, w.going...), remembered, nil
}

// tolerate makes nothing of an error that is no answer: a server that was there may
// come back for as long as somebody waits.
func (w *waiter) tolerate(err error) error {
	if err == nil || w.looked && !IsRefusal(err) {
		return nil
	}
	return err
}

func (w *waiter) lookAt(ctx context.Context, id ID) (Status, error) {
	if w.alone[id] {
		return Status{ID: id, State: Unwatched, Message: "no reconciler is running that would look after it"}, nil
	}
	live := id.object()
	err := w.applier.client.Get(ctx, client.ObjectKeyFromObject(live), live)
	absent := apierrors.IsNotFound(err)
	switch {
	case absent && id.Kind == "Job" && w.applied:
		return Status{ID: id, State: Stuck, Message: "is gone, and nobody has seen it complete"}, nil
	case absent:
		return Status{ID: id, State: Waiting, Message: "does not exist"}, nil
	case err != nil:
		return unread(id, err), &ObjectError{ID: id, Verb: "read", Err: err}
	}
	if live.GetAnnotations()[v1alpha1.AnnotationRenderHash] != w.hashes[id] {
		return Status{ID: id, State: Waiting, Message: "is not yet what is rendered"}, nil
	}
	s := StatusOf(live)
	if id.Kind == v1alpha1.KindCluster {
		return w.clusterState(live, s), nil
	}
	if phase, _, _ := unstructured.NestedString(live.Object, "status", "phase"); id.Kind == "PersistentVolumeClaim" &&
		phase == "Pending" && w.hibernates[id.Namespace+"/"+live.GetLabels()[name.LabelCluster]] {
		// Nothing uses it, so nothing binds it.
		s.State, s.Message = Ready, ""
	} else if size, has := w.sizes[id], requested(live); has.Cmp(size) < 0 && s.State == Ready {
		s.State, s.Message = Waiting, fmt.Sprintf("asks for %s, and %s is rendered: to be applied again", has.String(), size.String())
	}
	return s, nil
}

// clusterState is that of a ValkeyCluster: its status is one of this rendering, and a cluster
// that is to hibernate does so when it is not Ready for that reason.
func (w *waiter) clusterState(live *unstructured.Unstructured, s Status) Status {
	seen, _, _ := unstructured.NestedString(live.Object, "status", "renderHash")
	ready := condition(live, v1alpha1.ConditionReady)
	if s.State == Waiting && ready.reason == v1alpha1.ReasonHibernated && ready.generation == live.GetGeneration() &&
		w.hibernates[live.GetNamespace()+"/"+live.GetName()] {
		s.State, s.Message = Ready, ""
	}
	if s.State == Ready && seen != w.hashes[s.ID] {
		s.State, s.Message = Waiting, "the reconciler has not seen everything that was rendered yet"
	}
	return s
}

// unread is the state of an object that the server does not tell.
func unread(id ID, err error) Status {
	s := Status{ID: id, State: Waiting, Message: "the API server does not answer"}
	if !isLost(err) {
		s.Message = "cannot be read: " + explain(err)
	}
	return s
}

// requested is the size that a claim asks for; 0 of anything else.
func requested(claim *unstructured.Unstructured) resource.Quantity {
	size, _ := quantityAt(claim, requestPath()...)
	return size
}

// tell reports what is new. It returns what is not ready, whether there were news,
// and whether something has failed for good.
func (w *waiter) tell(all []Status) (pending []Status, news, stuck bool) {
	p := Progress{Total: len(all)}
	for _, s := range all {
		if s.State == "" {
			s.State, s.Message = Waiting, "was not looked at"
		}
		switch s.State {
		case Ready, Unwatched:
			p.Ready++
		default:
			pending = append(pending, s)
			stuck = stuck || s.State == Stuck
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
	return pending, len(p.Changed) > 0, stuck
}
