// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/topologyjob/status"
)

// refusedPause is how long to wait before something is asked again that the API server has
// refused: somebody has to change a quota, a policy or rights first.
const refusedPause = 5 * time.Second

// refusedError is a request that the API server understood and will not do.
type refusedError struct {
	failure status.Failure
	err     error
}

// Error implements error.
func (e *refusedError) Error() string { return e.err.Error() }

func (e *refusedError) refused() refused { return refused{e.failure, apierrors.ReasonForError(e.err)} }

// Unwrap gives access to what the API server said.
func (e *refusedError) Unwrap() error { return e.err }

// refusal makes an error of a request one that tells what was refused, where that is what
// it is. A conflict, or that something is there already or no more, is news that the cache
// has not yet, and a server that is busy or away refuses nothing.
func refusal(verb status.Verb, kind, name string, err error) error {
	switch apierrors.ReasonForError(err) {
	case metav1.StatusReasonForbidden, metav1.StatusReasonInvalid, metav1.StatusReasonBadRequest, metav1.StatusReasonRequestEntityTooLarge,
		metav1.StatusReasonInternalError:
		return &refusedError{status.Failure{Verb: verb, Kind: kind, Name: name, Message: err.Error()}, err}
	}
	return err
}

// refused is a request that was refused, and as what.
type refused struct {
	status.Failure
	reason metav1.StatusReason
}

// same reports whether it is the same that is refused, whatever the words: these may have in
// them what differs each time, such as a port.
func (r refused) same(other refused) bool {
	return r.Verb == other.Verb && r.Kind == other.Kind && r.Name == other.Name && r.reason == other.reason
}

// refusals are the requests that were refused of all that an error tells; all is whether it
// tells nothing else.
func refusals(err error) (list []refused, all bool) {
	all = true
	for err != nil {
		if joined, ok := err.(interface{ Unwrap() []error }); ok {
			for _, one := range joined.Unwrap() {
				more, only := refusals(one)
				list, all = append(list, more...), all && only
			}
			return list, all
		}
		if r, ok := err.(interface{ refused() refused }); ok {
			return append(list, r.refused()), all
		}
		if err = errors.Unwrap(err); err == nil {
			return list, false
		}
	}
	return list, all
}

// Refused remembers what was refused of a cluster's requests until the next look, which
// puts it into the status.
type Refused struct {
	mu       sync.Mutex
	clusters map[types.NamespacedName][]refused
}

// NewRefused remembers nothing yet.
func NewRefused() *Refused {
	return &Refused{clusters: map[types.NamespacedName][]refused{}}
}

func (r *Refused) of(cluster types.NamespacedName) []status.Failure {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []status.Failure
	for _, one := range r.clusters[cluster] {
		list = append(list, one.Failure)
	}
	return list
}

// take replaces what is remembered of a cluster, and reports whether something else is refused
// now. Of what is still refused the words stay the first ones, unless they differ in more than
// numbers: the status has them.
func (r *Refused) take(cluster types.NamespacedName, list []refused) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.clusters[cluster]
	news := !slices.EqualFunc(before, list, refused.same)
	list = slices.Clone(list)
	for i := range list {
		j := slices.IndexFunc(before, list[i].same)
		if j >= 0 && wordsOf(before[j].Message) == wordsOf(list[i].Message) {
			list[i].Message = before[j].Message
		}
	}
	if len(list) == 0 {
		delete(r.clusters, cluster)
	} else {
		r.clusters[cluster] = list
	}
	return news
}

// wordsOf is a text without its digits.
func wordsOf(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return -1
		}
		return r
	}, text)
}

// telling is a client whose errors tell what was refused.
type telling struct{ client.Client }

// kind is that of an object, as the API calls it.
func (t telling) kind(o client.Object) string {
	gvk, err := t.GroupVersionKindFor(o)
	if err != nil {
		return ""
	}
	return gvk.Kind
}

// Create implements client.Client.
func (t telling) Create(ctx context.Context, o client.Object, opts ...client.CreateOption) error {
	return refusal(status.VerbCreate, t.kind(o), o.GetName(), t.Client.Create(ctx, o, opts...))
}

// Update implements client.Client.
func (t telling) Update(ctx context.Context, o client.Object, opts ...client.UpdateOption) error {
	return refusal(status.VerbUpdate, t.kind(o), o.GetName(), t.Client.Update(ctx, o, opts...))
}

// Patch implements client.Client.
func (t telling) Patch(ctx context.Context, o client.Object, patch client.Patch, opts ...client.PatchOption) error {
	return refusal(status.VerbUpdate, t.kind(o), o.GetName(), t.Client.Patch(ctx, o, patch, opts...))
}

// Delete implements client.Client.
func (t telling) Delete(ctx context.Context, o client.Object, opts ...client.DeleteOption) error {
	return refusal(status.VerbDelete, t.kind(o), o.GetName(), t.Client.Delete(ctx, o, opts...))
}

// Status implements client.Client. A status of a ValkeyCluster that is refused is told
// nowhere but in the log.
func (t telling) Status() client.SubResourceWriter { return tellingStatus{t, t.Client.Status()} }

// SubResource implements client.Client.
func (t telling) SubResource(called string) client.SubResourceClient {
	return tellingSub{t.Client.SubResource(called), t}
}

type tellingStatus struct {
	t telling
	client.SubResourceWriter
}

// Patch implements client.SubResourceWriter.
func (s tellingStatus) Patch(ctx context.Context, o client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
	err := s.SubResourceWriter.Patch(ctx, o, patch, opts...)
	if kind := s.t.kind(o); kind != v1alpha1.KindCluster {
		return refusal(status.VerbUpdate, kind, o.GetName(), err)
	}
	return err
}

type tellingSub struct {
	client.SubResourceClient
	t telling
}

// Create implements client.SubResourceClient; an eviction is the only thing so created.
func (s tellingSub) Create(ctx context.Context, o, sub client.Object, opts ...client.SubResourceCreateOption) error {
	return refusal(status.VerbEvict, s.t.kind(o), o.GetName(), s.SubResourceClient.Create(ctx, o, sub, opts...))
}
