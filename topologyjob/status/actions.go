// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"cmp"
	"slices"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
)

// actions takes over what was asked for by annotation.
func (x *computation) actions(s *v1alpha1.ValkeyClusterStatus) {
	for _, a := range x.o.Actions {
		at := slices.IndexFunc(s.Actions, func(old v1alpha1.ActionStatus) bool { return old.Name == a.Name })
		if at < 0 {
			s.Actions = append(s.Actions, a)
		} else {
			s.Actions[at] = a
		}
	}
	slices.SortStableFunc(s.Actions, func(a, b v1alpha1.ActionStatus) int { return cmp.Compare(a.Name, b.Name) })
}

// ofActions are the events of actions that began or ended since.
func (t *transition) ofActions() {
	for _, a := range t.after.Actions {
		var old v1alpha1.ActionStatus
		for _, b := range t.before.Actions {
			if b.Name == a.Name && b.Token == a.Token && b.StartedAt.Equal(a.StartedAt) {
				old = b
			}
		}
		if old.Result == a.Result {
			continue
		}
		switch a.Result {
		case v1alpha1.ActionRunning:
			t.normal(v1alpha1.EventActionStarted, "Started %s, as asked for by %s", a.Name, a.Token)
		case v1alpha1.ActionSucceeded:
			t.normal(v1alpha1.EventActionSucceeded, "%s %s: %s", a.Name, a.Token, a.Message)
		case v1alpha1.ActionFailed:
			t.warn(v1alpha1.EventActionFailed, "%s %s: %s", a.Name, a.Token, a.Message)
		}
	}
}
