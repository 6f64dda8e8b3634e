// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import "github.com/valkey-render/valkey-render/topologyjob/survey"

// reachable is check 1: it says which pods do not answer and why. What needs one of them
// waits; the work of other shards goes on.
func reachable(s *situation) finding {
	var f finding
	for _, a := range s.absent() {
		f.waits = append(f.waits, Wait{
			Pod: a.Pod.Name, Absent: len(s.nodes) > 0 && gone(a.Problem.Code),
			Message: "pod " + a.Pod.Name + " " + string(a.Problem.Code) + ": " + a.Problem.Message,
		})
	}
	f.stop = len(s.nodes) == 0
	return f
}

// gone is whether a pod may just not be there. One that refuses us, or is loading, is.
func gone(code survey.Code) bool { return code == survey.Unreachable || code == survey.Unresolved }
