// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// patience is how many looks without news are not worth asking why.
	patience = 10
	// lately is how old a warning may be: kubelets and controllers repeat theirs.
	lately = 10 * time.Minute
	// causeTime is what asking may take when the time is over already.
	causeTime = 2 * time.Second
	// mostEvents of a namespace are looked at, and causeLength bytes told of one.
	mostEvents  = 500
	causeLength = 300
)

// explain tells why nothing has become ready for a while. Each cause is told once.
func (w *waiter) explain(ctx context.Context, pending []Status, total int) {
	explained := slices.Clone(pending)
	w.explainPending(ctx, explained)
	p := Progress{Ready: total - len(pending), Total: total, Pending: explained}
	for i, s := range explained {
		if s != pending[i] && w.told[s.ID] != s {
			p.Changed = append(p.Changed, s)
			w.told[s.ID] = s
		}
	}
	if len(p.Changed) > 0 {
		w.applier.options.OnWait(p)
	}
}

// explainPending adds to objects that are not ready the newest warning about them or
// their pods. Why a pod does not start, a StatefulSet does not say. Whoever may not
// read events is told nothing.
func (w *waiter) explainPending(ctx context.Context, pending []Status) {
	events := map[string][]corev1.Event{}
	for i, s := range pending {
		if s.State != Waiting || s.Kind != "StatefulSet" && s.Kind != "Job" && s.Kind != "PersistentVolumeClaim" {
			continue
		}
		all, asked := events[s.Namespace]
		if !asked {
			all = w.warnings(ctx, s.Namespace)
			events[s.Namespace] = all
		}
		if cause := newestAbout(s.ID, all); cause != "" {
			pending[i].Message += "; " + cause
		}
	}
}

// warnings are the fresh ones of a namespace.
func (w *waiter) warnings(ctx context.Context, namespace string) []corev1.Event {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), causeTime)
	defer cancel()
	var list corev1.EventList
	err := w.applier.client.List(ctx, &list, client.InNamespace(namespace),
		client.MatchingFields{"type": corev1.EventTypeWarning}, client.Limit(mostEvents))
	if err != nil {
		return nil
	}
	var out []corev1.Event
	for _, e := range list.Items {
		if w.applier.options.Clock.Since(eventTime(e)) < lately {
			out = append(out, e)
		}
	}
	return out
}

func eventTime(e corev1.Event) time.Time {
	last := e.LastTimestamp.Time
	if e.EventTime.After(last) {
		last = e.EventTime.Time
	}
	if e.Series != nil && e.Series.LastObservedTime.After(last) {
		last = e.Series.LastObservedTime.Time
	}
	return last
}

// newestAbout is the newest warning about an object or one of its pods, in words.
func newestAbout(id ID, events []corev1.Event) string {
	var newest *corev1.Event
	for i := range events {
		if about := events[i].InvolvedObject; isAbout(id, about.Kind, about.Name) &&
			(newest == nil || eventTime(events[i]).After(eventTime(*newest))) {
			newest = &events[i]
		}
	}
	if newest == nil {
		return ""
	}
	text := strings.Join(strings.Fields(newest.Reason+": "+newest.Message), " ")
	if len(text) > causeLength {
		text = strings.ToValidUTF8(text[:causeLength], "") + "…"
	}
	if newest.InvolvedObject.Kind == "Pod" {
		text = "Pod " + newest.InvolvedObject.Name + ": " + text
	}
	return text
}

// isAbout reports whether an object is the one of id or, by its name, a pod of it.
func isAbout(id ID, kind, called string) bool {
	if kind == id.Kind {
		return called == id.Name
	}
	last, found := strings.CutPrefix(called, id.Name+"-")
	return kind == "Pod" && id.Kind != "PersistentVolumeClaim" && found && !strings.Contains(last, "-")
}
