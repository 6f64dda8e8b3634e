// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"fmt"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/topologyjob/job"
	"github.com/valkey-render/valkey-render/topologyjob/status"
)

// Rendering tells what is to be applied for a cluster from what was applied before: the
// spec, the shards that may go, and what asks for all pods to be replaced, or for another try.
// There is no loop against drift, and another version of the renderer alone changes nothing:
// nobody has looked at what it would do.
func Rendering(c *v1alpha1.ValkeyCluster) string {
	token := fmt.Sprintf("%s/%d/%v/%s", c.UID, c.Generation, c.Status.DrainedShards, c.Annotations[v1alpha1.AnnotationRestart])
	if again := c.Annotations[v1alpha1.AnnotationRetry]; again != "" {
		token += "/retry=" + again
	}
	return token
}

// deliver starts the Job that renders and applies, with delivery: InCluster.
func (in Input) deliver(d *Decision) {
	c := in.Cluster
	if c.EffectiveDelivery() != v1alpha1.DeliveryInCluster {
		return
	}
	token := Rendering(c)
	if d.was(job.Apply) == token {
		return
	}
	d.Next.Work = append(d.Next.Work, status.WorkApply)
	if in.yields(d, applier) {
		return
	}
	o := job.Order{Kind: job.Apply, Why: fmt.Sprintf("generation %d is to be applied", c.Generation), Token: token, Epoch: c.Annotations[v1alpha1.AnnotationRetry]}
	if spent := in.create(d, o); spent != nil {
		d.Next.Blocked = &status.Blocked{Reason: v1alpha1.ReasonJobBlocked, Message: spentMessage(spent)}
	}
}
