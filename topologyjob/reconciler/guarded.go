// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"context"
	"strings"
	"sync"
	"time"

	admission "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/guard"
)

// Guarded knows whether the admission policies of a guard are installed, and looks again
// after a minute.
type Guarded struct {
	live  client.Reader
	clock clock.PassiveClock
	mu    sync.Mutex
	asked time.Time
	known *bool
}

// guardedFor is how long an answer is good for: it is the same for all clusters.
const guardedFor = time.Minute

// NewGuarded reads policies with the right of GuardRights.
func NewGuarded(live client.Reader, c clock.PassiveClock) *Guarded {
	return &Guarded{live: live, clock: c}
}

// installed is whether there is a guard that is whole; nil when it is not known.
func (w *Guarded) installed(ctx context.Context) *bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if now := w.clock.Now(); w.asked.IsZero() || now.Sub(w.asked) >= guardedFor {
		w.asked, w.known = now, w.look(ctx)
	}
	return w.known
}

func (w *Guarded) look(ctx context.Context) *bool {
	there := map[string]map[string]bool{}
	for _, kind := range []string{"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"} {
		list := &metav1.PartialObjectMetadataList{TypeMeta: metav1.TypeMeta{APIVersion: admission.SchemeGroupVersion.String(), Kind: kind + "List"}}
		if err := w.live.List(ctx, list, client.MatchingLabels{name.LabelPartOf: name.PartOf, name.LabelComponent: guard.Component}); err != nil {
			log.FromContext(ctx).V(1).Info("guard not looked for", "why", err.Error())
			return nil
		}
		there[kind] = map[string]bool{}
		for i := range list.Items {
			there[kind][list.Items[i].Name] = true
		}
	}
	whole := guardIn(there["ValidatingAdmissionPolicy"], there["ValidatingAdmissionPolicyBinding"])
	return &whole
}

// guardIn reports whether policies and bindings have all of one guard among them. The names
// of each guard have an ending of their own.
func guardIn(policies, bindings map[string]bool) bool {
	endings := map[string]bool{}
	for n := range policies {
		word, ending, found := strings.Cut(strings.TrimPrefix(n, guard.Prefix), ".")
		if word != "" && found {
			ending = "." + ending
		}
		endings[ending] = true
	}
	for ending := range endings {
		whole := true
		for _, p := range guard.Policies(guard.Options{Suffix: ending}) {
			whole = whole && policies[p.Policy.Name] && bindings[p.Binding.Name]
		}
		if whole {
			return true
		}
	}
	return false
}
