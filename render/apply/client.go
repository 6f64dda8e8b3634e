// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr/funcr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
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
// server-side applies, deletes of one UID, replacements of one resourceVersion.
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
	if r, ok := ctx.Value(readingKey{}).(*reading); ok && client.IgnoreNotFound(r.err) != nil {
		return r.err
	}
	return s.try(ctx, func() error { return s.Client.Patch(ctx, o, patch, opts...) })
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
		lost := isLost(err)
		if !lost {
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

// isLost reports whether a request got no answer.
func isLost(err error) bool {
	return err != nil && (utilnet.IsConnectionRefused(err) || utilnet.IsConnectionReset(err) ||
		utilnet.IsHTTP2ConnectionLost(err) || utilnet.IsProbableEOF(err))
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
