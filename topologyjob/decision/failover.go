// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/topologyjob/converge"
	"github.com/valkey-render/valkey-render/topologyjob/plan"
	"github.com/valkey-render/valkey-render/topologyjob/status"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// failoverPatience is how long a failover that was asked for waits for a replica: whoever
// asked does not expect it any more after that.
const failoverPatience = 5 * time.Minute

// change is a failover that was asked for: another pod than from becomes the primary, or to
// where that is not "".
type change struct{ from, to string }

func (c change) String() string {
	if c.to == "" {
		return "from " + c.from
	}
	return "from " + c.from + " to " + c.to
}

// parseChange reads what String wrote.
func parseChange(text string) change {
	from, to, _ := strings.Cut(strings.TrimPrefix(text, "from "), " to ")
	return change{from, to}
}

// failover does what the annotation of that name asks for: a handover, with the primary
// well. It reports whether it has the floor.
func (in Input) failover(d *Decision, desired plan.Desired) bool {
	a, asked := in.asked(actionFailover)
	if !asked {
		return false
	}
	if a.Progress == "" {
		c, wrong := in.pickFailover()
		switch {
		case wrong != "":
			in.fail(d, a, "%s", wrong)
			return false
		case c.from == "":
			in.unanswered(d, a, "no pod is the one primary")
			return true
		}
		a = in.progress(d, a, c.String())
	}
	c := parseChange(a.Progress)
	shard, known := in.shardOf(c.from)
	primary := in.primaryOf(shard)
	switch {
	case !known:
		in.fail(d, a, "Pod %s, which was the primary, is no pod of the cluster any more", c.from)
		return false
	case primary != "" && (primary == c.to || c.to == "" && primary != c.from):
		in.succeed(d, a, "Pod %s is the primary of shard %d", primary, shard)
		return false
	}
	desired = in.leave(desired, shard, c)
	p := converge.Decide(desired, *in.Seen.View)
	if len(p.Steps) == 0 {
		why := strings.Join(status.WaitingFor(p), "; ")
		if p.Blocked != nil {
			why = p.Blocked.Message
		}
		in.unanswered(d, a, why)
		return true
	}
	o := in.order(desired, p)
	o.Epoch += "/" + a.Token
	if spent := in.launch(d, o); spent != nil {
		in.fail(d, a, "%s", said(*spent))
	}
	return true
}

// unanswered waits for what a failover lacks, for some time.
func (in Input) unanswered(d *Decision, a v1alpha1.ActionStatus, why string) {
	if in.Now.Sub(a.StartedAt.Time) > failoverPatience && in.working() == nil {
		in.fail(d, a, "Not possible within %s: %s", failoverPatience, why)
		return
	}
	d.wait(time.Second, "failover: %s", why)
}

// pickFailover finds the primary that is to be replaced. wrong says why what was asked for
// makes no sense.
func (in Input) pickFailover() (c change, wrong string) {
	target, cluster := in.Cluster.Annotations[v1alpha1.AnnotationFailoverTarget], in.Cluster
	shard := int32(0)
	switch {
	case cluster.EffectiveTopology() == v1alpha1.TopologyStandalone:
		return c, "Topology Standalone has no replica"
	case target != "":
		of, known := in.shardOf(target)
		if !known {
			return c, fmt.Sprintf("Annotation %s: %s is no data pod of the cluster", v1alpha1.AnnotationFailoverTarget, target)
		}
		shard = of
	case cluster.IsCluster() && cluster.ShardCount() > 1:
		return c, fmt.Sprintf("Annotation %s is to name the replica: there are %d shards", v1alpha1.AnnotationFailoverTarget, cluster.ShardCount())
	}
	return change{from: in.primaryOf(shard), to: target}, ""
}

// leave has the primary of a shard leave its pod.
func (in Input) leave(desired plan.Desired, shard int32, c change) plan.Desired {
	switch {
	case c.to == "":
		desired.Vacate = []string{c.from}
	case in.Cluster.IsCluster():
		for _, p := range in.Asked {
			if p.Shard == shard && p.Name != c.to {
				desired.Vacate = append(desired.Vacate, p.Name)
			}
		}
	default:
		desired.Primary = c.to
	}
	return desired
}

// shardOf is the shard of a data pod, false when there is no such pod.
func (in Input) shardOf(pod string) (int32, bool) {
	i := slices.IndexFunc(in.Asked, func(p survey.Pod) bool { return p.Name == pod })
	if i < 0 {
		return 0, false
	}
	return in.Asked[i].Shard, true
}

// primaryOf is the pod of the primary of a shard, "" when it cannot be told.
func (in Input) primaryOf(shard int32) string {
	id, _ := in.owner(shard)
	for i := range in.Seen.View.Answers {
		if a := &in.Seen.View.Answers[i]; id != "" && a.Answered() && a.ID == id && a.Pod.Shard == shard {
			return a.Pod.Name
		}
	}
	return ""
}
