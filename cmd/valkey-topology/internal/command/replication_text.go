// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"strings"

	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// replicationText is one line for each pod of a topology without slots, and each sentinel.
func replicationText(v survey.View) string {
	var lines []string
	for i := range v.Answers {
		a := &v.Answers[i]
		if !a.Answered() {
			lines = append(lines, fmt.Sprintf("%s  %s: %s", a.Pod.Name, a.Problem.Code, a.Problem.Message))
			continue
		}
		r := a.Replication
		line := fmt.Sprintf("%s  %s  %s  ", a.Pod.Name, a.ID, a.Version)
		switch {
		case r.Primary:
			line += fmt.Sprintf("primary, %d replicas", len(r.Replicas))
		case r.Follows.Fenced():
			line += "fenced"
		default:
			line += fmt.Sprintf("replica of %s, link %s", podAt(v, r.Follows), link(a.LinkUp))
		}
		lines = append(lines, line+fmt.Sprintf(", %d keys, history %.8s up to %d", a.Keys, a.ReplicationID, a.Offset))
	}
	for i := range v.Sentinels {
		w := &v.Sentinels[i]
		switch {
		case !w.Answered():
			lines = append(lines, fmt.Sprintf("%s  %s: %s", w.Pod.Name, w.Problem.Code, w.Problem.Message))
		case w.Watched == nil:
			lines = append(lines, fmt.Sprintf("%s  %s  %s  watches nothing", w.Pod.Name, w.ID, w.Version))
		default:
			lines = append(lines, fmt.Sprintf("%s  %s  %s  watches %s (%s), quorum %d, %d replicas, %d other sentinels", w.Pod.Name, w.ID, w.Version,
				podAt(v, w.Watched.Endpoint), strings.Join(w.Watched.Flags, ","), w.Watched.Quorum, len(w.Watched.Replicas), len(w.Watched.Sentinels)))
		}
	}
	return strings.Join(lines, "\n")
}

func link(up bool) string {
	if up {
		return "up"
	}
	return "down"
}

// podAt is the pod that an endpoint leads to, or the endpoint.
func podAt(v survey.View, e survey.Endpoint) string {
	if a := v.At(e); a != nil {
		return a.Pod.Name
	}
	return e.String()
}
