// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/valkey-render/valkey-render/render/name"
)

// Keys of an inventory's ConfigMap. The first two hold one object a line:
// apiVersion, kind, name.
const (
	keyObjects = "objects"
	keyPending = "pending"
	keyIntent  = "intent"
)

// intentDelete is written before a cluster's first object is deleted, so that a
// delete that was interrupted can go on when the ValkeyCluster is gone.
const intentDelete = "delete"

// inventory is what apply made for a cluster, kept in ConfigMap
// <cluster>-inventory. Whatever exists and was made by apply is in it: it is
// written before the first write, and what could not be deleted stays.
type inventory struct {
	// objects were applied by the last run that finished, or could not be deleted.
	objects []ID
	// pending are what a run that did not finish was about to apply; some may exist.
	pending []ID
	// intent is intentDelete or empty.
	intent string
	// live is the ConfigMap it was read from, nil before there is one.
	live *corev1.ConfigMap
}

// known is everything that may exist, in the order in which it is applied.
func (i *inventory) known() []ID { return union(i.objects, i.pending) }

// union of two lists, in the order in which objects are applied. Of two versions
// of the API the second list's stays.
func union(a, b []ID) []ID {
	at := map[string]ID{}
	for _, id := range slices.Concat(a, b) {
		at[id.key()] = id
	}
	out := make([]ID, 0, len(at))
	for _, id := range at {
		out = append(out, id)
	}
	slices.SortFunc(out, ID.compare)
	return out
}

// without is the IDs of a that are not in b.
func without(a, b []ID) []ID {
	drop := map[string]bool{}
	for _, id := range b {
		drop[id.key()] = true
	}
	var out []ID
	for _, id := range a {
		if !drop[id.key()] {
			out = append(out, id)
		}
	}
	return out
}

func (i *inventory) data() map[string]string {
	data := map[string]string{keyObjects: lines(i.objects)}
	if len(i.pending) > 0 {
		data[keyPending] = lines(i.pending)
	}
	if i.intent != "" {
		data[keyIntent] = i.intent
	}
	return data
}

func lines(ids []ID) string {
	var b strings.Builder
	for _, id := range union(ids, nil) {
		b.WriteString(id.line() + "\n")
	}
	return b.String()
}

func parseLines(namespace, text string) ([]ID, error) {
	var out []ID
	var problems []error
	for line := range strings.Lines(text) {
		id, err := parseLine(namespace, strings.TrimSuffix(line, "\n"))
		if err != nil {
			problems = append(problems, err)
			continue
		}
		out = append(out, id)
	}
	return out, errors.Join(problems...)
}

// readInventory reads a cluster's inventory; it is empty when there is none. One
// that cannot be understood is an error, never an empty one.
func readInventory(ctx context.Context, c client.Client, namespace, cluster string) (*inventory, error) {
	var live corev1.ConfigMap
	id := inventoryID(namespace, cluster)
	err := c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: id.Name}, &live)
	if apierrors.IsNotFound(err) {
		return &inventory{}, nil
	}
	if err != nil {
		return nil, &ObjectError{ID: id, Verb: "read", Err: err}
	}
	if owner := live.Labels[name.LabelCluster]; owner != cluster {
		return nil, &ObjectError{ID: id, Verb: "read", Err: fmt.Errorf("it is not an inventory: its label %s is %q, not %q: put that back, or see what it is and remove it", name.LabelCluster, owner, cluster)}
	}
	i := &inventory{live: &live, intent: live.Data[keyIntent]}
	var errObjects, errPending error
	i.objects, errObjects = parseLines(namespace, live.Data[keyObjects])
	i.pending, errPending = parseLines(namespace, live.Data[keyPending])
	if err := errors.Join(errObjects, errPending); err != nil {
		return nil, &ObjectError{ID: id, Verb: "read", Err: fmt.Errorf("%w: put it right by hand; without it, apply forgets what is no longer rendered and never deletes that", err)}
	}
	return i, nil
}

func inventoryID(namespace, cluster string) ID {
	return ID{"v1", "ConfigMap", namespace, name.Inventory(cluster)}
}

// write stores the inventory. It only replaces what was read, so that two runs at
// the same time do not forget each other's objects.
func (i *inventory) write(ctx context.Context, c client.Client, namespace, cluster string, owner *metav1.OwnerReference) error {
	next := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name.Inventory(cluster)}}
	if i.live != nil {
		next = i.live.DeepCopy()
	}
	next.Data = i.data()
	if next.Labels == nil {
		next.Labels = map[string]string{}
	}
	maps.Copy(next.Labels, name.Labels(cluster, name.ComponentCluster))
	if owner != nil {
		next.OwnerReferences = []metav1.OwnerReference{*owner}
	}
	var err error
	if i.live == nil {
		err = c.Create(ctx, next, client.FieldOwner(FieldManager))
	} else {
		err = c.Update(ctx, next, client.FieldOwner(FieldManager))
	}
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
		// An answer that got lost makes the second request fail though the first was
		// carried out.
		if there, errRead := readInventory(ctx, c, namespace, cluster); errRead == nil && there.live != nil && maps.Equal(there.live.Data, next.Data) {
			next, err = there.live, nil
		}
	}
	if err != nil {
		return &ObjectError{ID: inventoryID(namespace, cluster), Verb: "write", Err: err}
	}
	i.live = next
	return nil
}

// owned reports whether the inventory goes with an owner, where there is one. One of before,
// of a cluster of the same name, goes with that.
func (i *inventory) owned(owner *metav1.OwnerReference) bool {
	return owner == nil || i.live != nil && slices.ContainsFunc(i.live.OwnerReferences, func(o metav1.OwnerReference) bool { return o.UID == owner.UID })
}

// stored reports whether the inventory is in the cluster as it is here.
func (i *inventory) stored() bool {
	if i.live == nil {
		return len(i.objects)+len(i.pending) == 0
	}
	return maps.Equal(i.data(), i.live.Data)
}
