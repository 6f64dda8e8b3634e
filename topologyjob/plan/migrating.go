// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import "fmt"

// migrating is check 4: an atomic migration in flight is watched to its end, by name. Both
// ends know it, and a source that restarts forgets it. It keeps nothing but moves of slots
// from being done: an urgent failover is safe and ends it.
func migrating(s *situation) finding {
	var f finding
	seen := map[string]bool{}
	for _, exporting := range []bool{true, false} {
		for _, a := range s.nodes {
			for _, m := range a.Migrations {
				if a.Own().Replica || m.Ended() || m.Importing == exporting || seen[m.Name] {
					continue
				}
				seen[m.Name] = true
				f.waits = append(f.waits, Wait{Pod: a.Pod.Name, Message: fmt.Sprintf(
					"migration %s of slots %s from %s to %s: %s", short(m.Name), m.Slots, s.called(m.Source), s.called(m.Target), m.State)})
			}
		}
	}
	return f
}

// called is the pod with a node ID, else the ID.
func (s *situation) called(id string) string {
	if a := s.byID[id]; a != nil {
		return a.Pod.Name
	}
	return short(id)
}
