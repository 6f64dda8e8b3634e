// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr/funcr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// NewClient connects to the server of a configuration. The server refuses
// unknown fields instead of dropping them, and it, not the client, limits the
// rate of requests.
func NewClient(config *rest.Config) (client.Client, error) {
	config = rest.CopyConfig(config)
	config.QPS = -1
	// Without a logger of its own, the client complains of it on standard error.
	silent := funcr.New(func(string, string) {}, funcr.Options{})
	c, err := client.New(config, client.Options{FieldValidation: metav1.FieldValidationStrict, Log: silent})
	if err != nil {
		return nil, fmt.Errorf("server %s: %w", config.Host, err)
	}
	return c, nil
}

// Retries of a request that may succeed a moment later. Together they wait about
// 15 seconds, which a restarted API server or a new etcd leader needs.
const (
	retries    = 7
	firstDelay = 125 * time.Millisecond
	mostDelay  = 8 * time.Second
)

// steadyClient asks again when the server is overloaded or out of reach for a
// moment. Every request made through it is harmless when made twice: gets,
// server-side applies, deletes of one UID, and changes of one resourceVersion, of
// which the second is a conflict.
//
// It also closes a hole of the library above it, which goes on as if an object
// were absent when it could not be read: a failed read fails the write after it.
type steadyClient struct {
	client.Client
	clock clock.Clock
	// reached is set by the first answer. Before it an address that does not
	// answer is wrong rather than away.
	reached atomic.Bool
}

// reading is what the last Get of a context found.
type reading struct {
	live *unstructured.Unstructured
	err  error
	// again answers the following Gets, which are of the same object.
	again bool
	// patched is the answer to the last Patch, which may have been a dry run.
	patched *unstructured.Unstructured
}

type readingKey struct{}

// withReading returns a context whose Get is remembered.
func withReading(ctx context.Context) (context.Context, *reading) {
	r := &reading{}
	return context.WithValue(ctx, readingKey{}, r), r
}

// Get implements client.Client.
func (s *steadyClient) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	r, remembered := ctx.Value(readingKey{}).(*reading)
	out, dynamic := o.(*unstructured.Unstructured)
	remembered = remembered && dynamic
	if remembered && r.again {
		if r.err == nil {
			r.live.DeepCopyInto(out)
		}
		return r.err
	}
	err := s.try(ctx, func() error { return s.Client.Get(ctx, key, o, opts...) })
	if remembered {
		r.live, r.err = nil, err
		if err == nil {
			r.live = out.DeepCopy()
		}
	}
	return err
}

// Patch implements client.Client.
func (s *steadyClient) Patch(ctx context.Context, o client.Object, patch client.Patch, opts ...client.PatchOption) error {
	r, remembered := ctx.Value(readingKey{}).(*reading)
	if remembered && client.IgnoreNotFound(r.err) != nil {
		return r.err
	}
	locked := patch.Type() == types.JSONPatchType && !isDryRun(opts)
	if locked {
		var err error
		if patch, err = lock(o, patch); err != nil {
			return err
		}
	}
	err := s.try(ctx, func() error { return s.Client.Patch(ctx, o, patch, opts...) })
	if out, dynamic := o.(*unstructured.Unstructured); remembered && dynamic && err == nil {
		r.patched = out.DeepCopy()
	}
	if locked && apierrors.IsInvalid(err) {
		// It removes what was there when the object was read: what is not there any
		// more was removed by somebody else, or by a request whose answer got lost.
		err = apierrors.NewConflict(schema.GroupResource{Resource: o.GetObjectKind().GroupVersionKind().Kind}, o.GetName(), err)
	}
	return err
}

func isDryRun(opts []client.PatchOption) bool {
	var options client.PatchOptions
	options.ApplyOptions(opts)
	return len(options.DryRun) > 0
}

// lock makes a JSON patch one of the object as it was read. Without it, the owners
// of fields that it writes would replace those that came since.
func lock(o client.Object, patch client.Patch) (client.Patch, error) {
	data, err := patch.Data(o)
	if err != nil {
		return nil, err
	}
	var operations []json.RawMessage
	if err := json.Unmarshal(data, &operations); err != nil {
		return nil, err
	}
	version, err := json.Marshal(operation{Op: "replace", Path: "/metadata/resourceVersion", Value: o.GetResourceVersion()})
	if err != nil {
		return nil, err
	}
	data, err = json.Marshal(append(operations, version))
	return client.RawPatch(types.JSONPatchType, data), err
}

// Apply implements client.Client.
func (s *steadyClient) Apply(ctx context.Context, o runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
	return s.try(ctx, func() error { return s.Client.Apply(ctx, o, opts...) })
}

// Create implements client.Client.
func (s *steadyClient) Create(ctx context.Context, o client.Object, opts ...client.CreateOption) error {
	return s.try(ctx, func() error { return s.Client.Create(ctx, o, opts...) })
}

// Update implements client.Client.
func (s *steadyClient) Update(ctx context.Context, o client.Object, opts ...client.UpdateOption) error {
	return s.try(ctx, func() error { return s.Client.Update(ctx, o, opts...) })
}

// Delete implements client.Client.
func (s *steadyClient) Delete(ctx context.Context, o client.Object, opts ...client.DeleteOption) error {
	return s.try(ctx, func() error { return s.Client.Delete(ctx, o, opts...) })
}

// List implements client.Client.
func (s *steadyClient) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	return s.try(ctx, func() error { return s.Client.List(ctx, list, opts...) })
}

func (s *steadyClient) try(ctx context.Context, request func() error) error {
	delay := firstDelay
	for attempt := 0; ; attempt++ {
		err := request()
		lost := !ended(ctx, s.clock) && isLost(err)
		if lost {
			err = &unansweredError{withoutURL(err)}
		} else {
			s.reached.Store(true)
		}
		if err == nil || attempt == retries || lost && !s.reached.Load() || !lost && !isBusy(err) {
			return err
		}
		if seconds, ok := apierrors.SuggestsClientDelay(err); ok {
			delay = max(delay, time.Duration(seconds)*time.Second)
		}
		if err := pause(ctx, s.clock, min(delay, mostDelay)); err != nil {
			return err
		}
		delay *= 2
	}
}

// pause waits for a time or the end of ctx, which is its error.
func pause(ctx context.Context, c clock.Clock, d time.Duration) error {
	timer := c.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ended reports whether the time of ctx is over. A connection that is given up for
// its deadline is back a moment before ctx says so.
func ended(ctx context.Context, c clock.Clock) bool {
	deadline, limited := ctx.Deadline()
	return ctx.Err() != nil || limited && !c.Now().Before(deadline)
}

// unansweredError is a request that got no answer. It does not unwrap: timeouts of
// package net say that they are those of the context, which has not ended.
type unansweredError struct{ cause string }

func (e *unansweredError) Error() string { return e.cause }

// isLost reports whether a request got no answer.
func isLost(err error) bool {
	if _, answered := answer(err); err == nil || answered {
		return false
	}
	if _, ok := errors.AsType[*unansweredError](err); ok {
		return true
	}
	if e, ok := errors.AsType[*net.OpError](err); ok && e.Op != "remote error" && e.Op != "local error" {
		// The two are TLS, which does not mend.
		return true
	}
	return utilnet.IsConnectionRefused(err) || utilnet.IsConnectionReset(err) || utilnet.IsTimeout(err) ||
		utilnet.IsHTTP2ConnectionLost(err) || utilnet.IsProbableEOF(err) || errors.Is(err, io.ErrUnexpectedEOF)
}

// isBusy reports whether an answer asks to come back later.
func isBusy(err error) bool {
	if err == nil || strings.Contains(err.Error(), "failed calling webhook") {
		return false
	}
	return apierrors.IsTooManyRequests(err) || apierrors.IsServiceUnavailable(err) ||
		apierrors.IsServerTimeout(err) || apierrors.IsTimeout(err) ||
		apierrors.IsInternalError(err) && strings.Contains(err.Error(), "etcdserver:")
}
