// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"context"
	"slices"
	"strings"
	"time"

	eventsv1 "k8s.io/api/events/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/status"
)

const (
	// failedCreate is the reason of the events of a StatefulSet whose pods, or the claims of
	// which, the API server refuses. Nothing in the StatefulSet tells.
	failedCreate = "FailedCreate"
	// creates is how old a StatefulSet is before anybody asks why it lacks pods: a new one has
	// none.
	creates = 10 * time.Second
	// retries is the longest that the controller waits before it tries, and tells, again:
	// 1000 s, and some for its queue.
	retries = 20 * time.Minute
)

// failures reads why pods of StatefulSets cannot be made, where some are missing. Events are
// no more than an explanation: without them the status says that pods are missing.
func (r *Reconciler) failures(ctx context.Context, g *gathered) {
	short := func(s status.StatefulSet) bool {
		return !s.Deleting && s.Observed && s.Pods < s.Replicas && g.now.Sub(s.Created) > creates
	}
	if !slices.ContainsFunc(g.seen.StatefulSets, short) {
		return
	}
	var list eventsv1.EventList
	of := client.MatchingFields{"reason": failedCreate, "regarding.kind": name.KindStatefulSet}
	if err := r.Live.List(ctx, &list, client.InNamespace(g.cluster.Namespace), of); err != nil {
		log.FromContext(ctx).V(1).Info("events not read", "why", err.Error())
		return
	}
	for i := range g.seen.StatefulSets {
		if s := &g.seen.StatefulSets[i]; short(*s) {
			s.CreateFailed = refusedPod(list.Items, s.Name, g.newest(s), g.now)
		}
	}
}

// newest is when the newest pod of a StatefulSet was made: what was refused before that is
// past. Without a pod it is when the StatefulSet was.
func (g *gathered) newest(s *status.StatefulSet) time.Time {
	at := s.Created
	for i := range g.seen.Pods {
		if p := &g.seen.Pods[i]; p.Sentinel == s.Sentinel && p.Shard == s.Shard && p.Created.After(at) {
			at = p.Created
		}
	}
	return at
}

// refusedPod is what the API server said last when a pod of a StatefulSet was to be made,
// "" when it has said nothing for long.
func refusedPod(list []eventsv1.Event, set string, since, now time.Time) string {
	var last time.Time
	text := ""
	for i := range list {
		e := &list[i]
		at := seenLast(e)
		if e.Reason != failedCreate || e.Regarding.Name != set || at.Before(since) || now.Sub(at) > retries || at.Before(last) {
			continue
		}
		last, text = at, e.Note
	}
	// create Pod c-0-1 in StatefulSet c-0 failed error: pods "c-0-1" is forbidden: …
	if _, said, found := strings.Cut(text, " failed error: "); found {
		return said
	}
	return text
}

// seenLast is when an event was told last.
func seenLast(e *eventsv1.Event) time.Time {
	at := e.EventTime.Time
	if e.DeprecatedLastTimestamp.After(at) {
		at = e.DeprecatedLastTimestamp.Time
	}
	if e.Series != nil && e.Series.LastObservedTime.After(at) {
		at = e.Series.LastObservedTime.Time
	}
	return at
}
