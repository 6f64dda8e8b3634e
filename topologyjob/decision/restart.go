// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/topologyjob/job"
)

// shardToRestart reads the value of restart-shard: <index>:<token>.
func shardToRestart(value string) (int32, error) {
	index, token, found := strings.Cut(value, ":")
	shard, err := strconv.ParseInt(index, 10, 32)
	if !found || token == "" || err != nil || shard < 0 {
		return 0, fmt.Errorf("%q must be the index of a shard and a token: 0:TOKEN", value)
	}
	return int32(shard), nil
}

// restarting are the actions that replace the pods of a shard.
func (in Input) restarting(shard int32) []v1alpha1.ActionStatus {
	var list []v1alpha1.ActionStatus
	if a, asked := in.asked(actionRestart); asked {
		list = append(list, a)
	}
	if a, asked := in.asked(actionRestartShard); asked {
		if of, err := shardToRestart(a.Token); err == nil && of == shard {
			list = append(list, a)
		}
	}
	return list
}

// restartAsked is when somebody asked for the pods of a shard to be replaced, the zero time
// when nobody did. What restart has rendered anew is applied before, so that no pod is
// replaced twice.
func (in Input) restartAsked(shard int32) time.Time {
	var since time.Time
	if !in.delivered() {
		return since
	}
	for _, a := range in.restarting(shard) {
		if a.StartedAt != nil && a.StartedAt.After(since) {
			since = a.StartedAt.Time
		}
	}
	return since
}

// delivered is whether what is live is what was asked for, as far as that is up to us.
func (in Input) delivered() bool {
	return in.Cluster.EffectiveDelivery() != v1alpha1.DeliveryInCluster || slices.ContainsFunc(in.applied(), func(a v1alpha1.AppliedStatus) bool {
		return a.Kind == job.Apply && a.Token == Rendering(in.Cluster)
	})
}

// restarted ends the restarts whose pods have all been replaced, and those that would lose
// data: nobody wants them later, when that may be otherwise.
func (in Input) restarted(d *Decision, parties []party, refused string) {
	if !in.delivered() {
		return
	}
	for _, called := range []string{actionRestart, actionRestartShard} {
		a, asked := in.asked(called)
		if !asked {
			continue
		}
		n, err := in.replaced(a, parties)
		switch {
		case errors.Is(err, errNoShard):
			in.fail(d, a, "There is no such shard: spec.shards is %d", in.Cluster.ShardCount())
		case err == nil:
			in.succeed(d, a, "%d pods are new since", n)
		case refused != "":
			in.fail(d, a, "%s", refused)
		}
	}
}

var (
	errNoShard = errors.New("no such shard")
	errOld     = errors.New("pods are to be replaced, or to be whole")
)

// replaced counts the pods that a restart was for, and returns an error as long as not all
// of them are new and well.
func (in Input) replaced(a v1alpha1.ActionStatus, parties []party) (int, error) {
	first, last := int32(0), in.Cluster.ShardCount()-1
	if a.Name == actionRestartShard {
		shard, err := shardToRestart(a.Token)
		if err != nil || shard > last {
			return 0, errNoShard
		}
		first, last = shard, shard
	}
	n, shards := 0, int32(0)
	for _, p := range parties {
		if p.shard < first || p.shard > last {
			continue
		}
		shards++
		n += len(p.members)
		if !p.whole() || slices.ContainsFunc(p.members, func(m member) bool { return m.Created.Before(a.StartedAt.Time) }) {
			return 0, errOld
		}
	}
	if shards <= last-first {
		return 0, errOld
	}
	return n, nil
}
