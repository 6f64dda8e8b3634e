// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package secretstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/secret"
)

// FieldManager owns the fields of the Secrets, whoever writes them.
const FieldManager = "valkey-reconciler"

// attempts is how often another writer may be ahead. Each time it has done a part of
// the work, so two are enough for two.
const attempts = 5

// RaceError says that other writers were ahead every time. What is there is whole;
// another run may be luckier.
type RaceError struct {
	// Err is the last refusal.
	Err error
}

// Error implements error.
func (e *RaceError) Error() string { return "lost every race for the Secrets: " + e.Err.Error() }

// Unwrap returns the last refusal.
func (e *RaceError) Unwrap() error { return e.Err }

// Write is one Secret that was written.
type Write struct {
	// Name of the Secret.
	Name string
	// Created says that it did not exist before.
	Created bool
	// Keys that are new, changed or gone, sorted.
	Keys []string
}

// String says what was done, without a value.
func (w Write) String() string {
	verb := "updated"
	if w.Created {
		verb = "created"
	}
	if len(w.Keys) == 0 {
		return "Secret " + w.Name + " " + verb + ": labels"
	}
	return "Secret " + w.Name + " " + verb + ": " + strings.Join(w.Keys, ", ")
}

// Read returns the Secrets that exist, by name.
func Read(ctx context.Context, c client.Reader, namespace string, names []string) (map[string]*corev1.Secret, error) {
	live := map[string]*corev1.Secret{}
	var problems []error
	for _, n := range names {
		var s corev1.Secret
		err := c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: n}, &s)
		switch {
		case apierrors.IsNotFound(err):
		case err != nil:
			problems = append(problems, fmt.Errorf("%s read failed: %w", name.Subject("Secret", namespace, n), err))
		default:
			live[n] = &s
		}
	}
	return live, errors.Join(problems...)
}

// Converge reads, decides and writes until the Secrets are what they should be. It
// returns what it wrote, also with an error: a *secret.BlockedError, a *RaceError,
// or what the server said. in.Live is read here. With dryRun nothing is written.
func Converge(ctx context.Context, c client.Client, in secret.Input, dryRun bool) ([]Write, error) {
	names, err := secret.Names(in.Cluster, in.ACLs)
	if err != nil {
		return nil, err
	}
	var writes []Write
	for attempt := 1; ; attempt++ {
		if in.Live, err = Read(ctx, c, in.Cluster.Namespace, names); err != nil {
			return writes, err
		}
		changes, err := secret.Decide(in)
		if err != nil {
			return writes, err
		}
		raced := false
		for _, change := range changes {
			if !dryRun {
				raced, err = write(ctx, c, change)
			}
			if err != nil {
				break
			}
			writes = append(writes, Write{change.Secret.Name, change.Creates(), change.Keys})
		}
		switch {
		case err == nil:
			return merge(writes), nil
		case !raced:
			return merge(writes), err
		case attempt == attempts:
			return merge(writes), &RaceError{err}
		}
	}
}

// write writes one Secret, unless it has changed since it was read: raced says that
// somebody else wrote or deleted it meanwhile.
func write(ctx context.Context, c client.Client, change secret.Change) (raced bool, err error) {
	s, verb := change.Secret.DeepCopy(), "create"
	if change.Creates() {
		err = c.Create(ctx, s, client.FieldOwner(FieldManager))
		raced = apierrors.IsAlreadyExists(err)
	} else {
		verb = "update"
		err = c.Update(ctx, s, client.FieldOwner(FieldManager))
		raced = apierrors.IsConflict(err) || apierrors.IsNotFound(err)
	}
	if err != nil {
		return raced, fmt.Errorf("%s %s failed: %w", name.Subject("Secret", s.Namespace, s.Name), verb, err)
	}
	return false, nil
}

// merge puts the writes of one Secret in several attempts together.
func merge(writes []Write) []Write {
	var out []Write
	for _, w := range writes {
		i := slices.IndexFunc(out, func(o Write) bool { return o.Name == w.Name })
		if i < 0 {
			out = append(out, w)
			continue
		}
		out[i].Keys = slices.Compact(slices.Sorted(slices.Values(slices.Concat(out[i].Keys, w.Keys))))
	}
	return out
}
