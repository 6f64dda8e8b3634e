// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"github.com/valkey-render/valkey-render/api/v1alpha1"
)

// Measured is what is counted or measured and not in the status.
type Measured struct {
	// Lags are how far replicas are behind now.
	Lags []Lag
	// Ended are the Jobs that have ended since the status from before, each once.
	Ended []Job
	// Failovers are the primaries that were replaced since, by how: FailoverHandover and
	// the like.
	Failovers []string
}

// Lag is how far a replica is behind its primary.
type Lag struct {
	Shard int32
	Pod   string
	Bytes int64
}

// How a primary was replaced.
const (
	// FailoverHandover: by a Job, from one that was well.
	FailoverHandover = "handover"
	// FailoverPromotion: by a Job, as it was dead.
	FailoverPromotion = "promotion"
	// FailoverTakeover: by a Job, without votes.
	FailoverTakeover = "takeover"
	// FailoverAdoption: by the servers themselves.
	FailoverAdoption = "adoption"
)

// lags are those of a shard as it is now.
func lags(d *v1alpha1.ShardStatus) []Lag {
	var list []Lag
	for _, r := range d.ReplicaOffsets {
		list = append(list, Lag{Shard: d.Index, Pod: r.Pod, Bytes: max(0, d.PrimaryOffset-r.Offset)})
	}
	return list
}

// measure collects what was counted.
func (x *computation) measure() Measured {
	m := Measured{Lags: x.lags, Failovers: x.failovers}
	for _, j := range x.ended() {
		m.Ended = append(m.Ended, *j)
	}
	return m
}

// how is what has replaced a primary: a Job that works or has ended since, or nobody of ours.
func (t *transition) how() string {
	kinds := map[string]string{kindHandover: FailoverHandover, kindFailover: FailoverPromotion, kindTakeover: FailoverTakeover}
	for _, j := range t.ended() {
		if how, is := kinds[j.Kind]; is {
			return how
		}
	}
	for _, a := range t.after.ActiveJobs {
		if how, is := kinds[a.Kind]; is {
			return how
		}
	}
	return FailoverAdoption
}
