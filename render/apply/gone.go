// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/valkey-render/valkey-render/render/name"
)

// WaitGone waits until what was deleted no longer exists, and the pods of deleted
// StatefulSets have ended: those go after their StatefulSet.
func (a *Applier) WaitGone(ctx context.Context, results []Result) error {
	w := &waiter{applier: a, last: map[ID]Status{}, held: func(ctx context.Context) ([]Status, error) {
		var out []Status
		for _, r := range results {
			left, err := a.left(ctx, r)
			out = append(out, left...)
			if err != nil {
				return out, err
			}
		}
		return out, nil
	}}
	_, err := w.wait(ctx)
	return err
}

// left is what there still is of what was deleted of a cluster.
func (a *Applier) left(ctx context.Context, r Result) ([]Status, error) {
	var out []Status
	sets := map[types.UID]bool{}
	for _, c := range r.Changes {
		if c.Action != Deleted {
			continue
		}
		if c.Kind == "StatefulSet" {
			sets[c.Live.GetUID()] = true
		}
		live := c.object()
		err := a.client.Get(ctx, client.ObjectKeyFromObject(live), live)
		switch {
		case isNotInstalled(err), err != nil && client.IgnoreNotFound(err) == nil:
		case err != nil:
			return out, &ObjectError{ID: c.ID, Verb: "read", Err: err}
		case live.GetUID() == c.Live.GetUID():
			out = append(out, Status{ID: c.ID, State: Waiting, Message: "is being deleted"})
		}
	}
	if len(sets) == 0 {
		return out, nil
	}
	pods, err := a.pods(ctx, r, sets)
	return append(out, pods...), err
}

// pods are those of StatefulSets that are gone. Who may not list pods does not wait
// for them.
func (a *Applier) pods(ctx context.Context, r Result, sets map[types.UID]bool) ([]Status, error) {
	var list corev1.PodList
	err := a.client.List(ctx, &list, client.InNamespace(r.Namespace), client.MatchingLabels{name.LabelCluster: r.Name})
	if apierrors.IsForbidden(err) {
		return nil, nil
	}
	if err != nil {
		return nil, &ObjectError{ID: ID{"v1", "Pod", r.Namespace, "*"}, Verb: "list", Err: err}
	}
	var out []Status
	for _, pod := range list.Items {
		if owner := metav1.GetControllerOf(&pod); owner != nil && sets[owner.UID] {
			out = append(out, Status{ID: ID{"v1", "Pod", pod.Namespace, pod.Name}, State: Waiting, Message: "has not ended"})
		}
	}
	return out, nil
}
