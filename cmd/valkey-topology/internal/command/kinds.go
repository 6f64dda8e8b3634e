// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"fmt"
	"strings"

	"github.com/valkey-render/valkey-render/topologyjob/converge"
	"github.com/valkey-render/valkey-render/topologyjob/outcome"
)

// kind is one kind of work that `run` does.
type kind struct {
	name string
	// about says what it does, for help.
	about string
	// work does it until it is done, blocked, or ctx ends. It returns what it did,
	// and what ended it: a plain error is Failed, see verdict.
	work func(ctx context.Context, r *runner) (done, error)
}

// done is what a kind did.
type done struct {
	// message for people, one line.
	message string
	counts  map[string]int64
	// fingerprint of the certificate that every pod shows.
	fingerprint string
}

// kinds are all there are, in the order of help.
func kinds() []kind {
	return []kind{
		{"bootstrap", "form a topology of empty pods, and wait until every pod has its place", topology(converge.Bootstrap)},
		{"converge", "what a topology without a reconciler needs: form it, put right what is wrong, give new shards their slots", topology(converge.Converge)},
		{"repair", "put right what is wrong with a topology: members that moved, lost or new pods, replicas of nobody", topology(converge.Repair)},
		{"rebalance", "move the fewest slots that make all shards of a Cluster even, and empty those beyond the wanted count", topology(converge.Rebalance)},
		{"drain", "move the slots of shards beyond the wanted count of a Cluster away", topology(converge.Drain)},
		{"reshard", "move the slots that --reshard says from one shard of a Cluster to another", topology(converge.Reshard)},
		{"handover", "hand over from primaries on --vacate pods, or to --primary, without losing a write", topology(converge.Handover)},
		{"failover", "replace primaries that are dead, where the servers do not by themselves", topology(converge.Failover)},
		{"takeover", "replace primaries without votes once a majority of them is dead", topology(converge.Takeover)},
		{"liveconfig", "make the live directives of servers that run those of --live-dir", sets(liveconfig)},
		{"acl", "make the users of servers that run those of --acl-dir", sets(users)},
		{"rotate", "do a step of a rotation: passwords of --acl-dir and --system-dir, in an order that refuses nobody", sets(passwords)},
		{"tls", "have servers that run serve the certificate of --tls-cert", certificates},
		{"apply", "render the spec and apply what comes out, for a ValkeyCluster that is there", applies},
		{"secrets", "make the Secrets of a cluster, and keep them up to date", secrets},
	}
}

// lookup finds a kind by its name.
func lookup(name string) (kind, bool) {
	for _, k := range kinds() {
		if k.name == name {
			return k, true
		}
	}
	return kind{}, false
}

func kindNames() []string {
	var names []string
	for _, k := range kinds() {
		names = append(names, k.name)
	}
	return names
}

func kindHelp() string {
	var b strings.Builder
	for _, k := range kinds() {
		fmt.Fprintf(&b, "\n  %-10s %s", k.name, k.about)
	}
	return b.String()
}

// verdict is an error that says how the run ended.
type verdict struct {
	result outcome.Result
	reason string
	err    error
}

func (v *verdict) Error() string { return v.err.Error() }
func (v *verdict) Unwrap() error { return v.err }
