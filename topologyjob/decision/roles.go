// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"time"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/topologyjob/status"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// roles keeps the role labels of Replication and Sentinel, by which Services find the
// primary. A label moves only to a server that says that it is the one primary; as long as
// none or several do, labels stay as they are.
func (in Input) roles(d *Decision) {
	t := in.Cluster.EffectiveTopology()
	if t != v1alpha1.TopologyReplication && t != v1alpha1.TopologySentinel {
		return
	}
	d.sooner(max(time.Second, in.Cluster.Detection()/3))
	primary := soleAnswer(in.Seen.View)
	if primary == nil {
		// Clients wait for the label of whoever comes next.
		d.sooner(in.headless())
		return
	}
	var first, last []Label
	for i := range in.Seen.Pods {
		p := &in.Seen.Pods[i]
		if p.Sentinel || p.Deleting && p.Name == primary.Pod.Name {
			continue
		}
		switch want := in.role(p, primary); want {
		case "", p.Role:
		case v1alpha1.RolePrimary:
			last = append(last, Label{Pod: p.Name, UID: string(p.UID), Role: want})
		default:
			first = append(first, Label{Pod: p.Name, UID: string(p.UID), Role: want})
		}
	}
	d.Labels = append(first, last...)
}

// role is the label that a pod is to have, "" for the one that it has. Who does not answer
// is the primary no more, since another is.
func (in Input) role(p *status.Pod, primary *survey.Answer) v1alpha1.NodeRole {
	switch a := in.answer(p.Name); {
	case p.Name == primary.Pod.Name && string(p.UID) == primary.Pod.UID:
		return v1alpha1.RolePrimary
	case a != nil, p.Role == v1alpha1.RolePrimary:
		return v1alpha1.RoleReplica
	}
	return ""
}

// soleAnswer is the one server that says that it is the primary.
func soleAnswer(view *survey.View) *survey.Answer {
	var sole *survey.Answer
	for i := range view.Answers {
		a := &view.Answers[i]
		if !a.Answered() || a.Replication == nil || !a.Replication.Primary {
			continue
		}
		if sole != nil {
			return nil
		}
		sole = a
	}
	return sole
}
