// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"net/netip"
	"time"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/slot"
)

// Runs is what Kubernetes says of a pod.
type Runs string

const (
	// RunsUnknown: nobody asked Kubernetes.
	RunsUnknown Runs = ""
	// Running: its container runs, as far as is known.
	Running Runs = "Running"
	// Stopped: nothing of it runs: the pod is gone or its container has ended.
	Stopped Runs = "Stopped"
)

// Pod is one pod that is asked.
type Pod struct {
	// Name is unique in the survey.
	Name string `json:"name"`
	// Shard and Index are the pod's place: <cluster>-<shard>-<index>.
	Shard int32 `json:"shard"`
	Index int32 `json:"index"`
	// Host is its IP, or a DNS name that is resolved each time.
	Host string `json:"host"`
	// Port is its data port.
	Port int `json:"port"`
	// ServerName is what its certificate is checked for; "" is Host.
	ServerName string `json:"serverName,omitempty"`
	// UID is the pod's, "" if not known.
	UID string `json:"uid,omitempty"`
	// Runs is what Kubernetes says.
	Runs Runs `json:"runs,omitempty"`
	// Node and Zone are where it runs, for spread.
	Node string `json:"node,omitempty"`
	Zone string `json:"zone,omitempty"`
}

// Code says in one word why a pod told nothing.
type Code string

// Why a pod told nothing.
const (
	Unresolved  Code = "Unresolved"  // its name has no address
	Unreachable Code = "Unreachable" // it does not answer
	Loading     Code = "Loading"     // it reads its data
	Denied      Code = "Denied"      // it refuses our user, password or certificate
	NotCluster  Code = "NotCluster"  // it runs without cluster mode
	InCluster   Code = "InCluster"   // it runs in cluster mode, where it should not
	Unreadable  Code = "Unreadable"  // its answers make no sense
)

// Problem is why a pod told nothing.
type Problem struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
}

// Answer is what one pod told.
type Answer struct {
	Pod Pod `json:"pod"`
	// Problem is nil when it answered; then the rest is filled in.
	Problem *Problem `json:"problem,omitempty"`

	// Address is what was dialled.
	Address node.Address `json:"address"`
	// ID is its node ID; in topologies without slots its run ID, which each process has
	// its own of.
	ID string `json:"id,omitempty"`
	// Now is the server's time in milliseconds since 1970, Uptime how long it runs.
	Now    int64         `json:"now,omitempty"`
	Uptime time.Duration `json:"uptime,omitempty"`
	// Version is the server's, such as 9.1.2.
	Version string `json:"version,omitempty"`
	// Keys is how many keys it holds.
	Keys int64 `json:"keys"`
	// Offset is its replication offset.
	Offset int64 `json:"offset"`
	// LinkUp is whether a replica is connected to its primary and in sync; a primary has
	// no link.
	LinkUp bool `json:"linkUp,omitempty"`
	// Syncing is whether a replica is taking a full copy.
	Syncing bool `json:"syncing,omitempty"`
	// ReplicationID is the history that it has.
	ReplicationID string `json:"replicationID,omitempty"`
	// Persists is whether its data outlives its process: RDB save points or AOF.
	Persists bool `json:"persists,omitempty"`
	// StateOK is cluster_state:ok. It proves nothing by itself.
	StateOK bool `json:"stateOK,omitempty"`
	// CurrentEpoch is the highest epoch it has heard of.
	CurrentEpoch uint64 `json:"currentEpoch,omitempty"`
	// Nodes are what it believes, itself included, each ID once.
	Nodes []node.Entry `json:"nodes,omitempty"`
	// OpenKeys is how many keys it holds of each of its open slots.
	OpenKeys map[int]int64 `json:"openKeys,omitempty"`
	// Migrations are its atomic slot migrations, ended ones included (≥9.0).
	Migrations []node.Migration `json:"migrations,omitempty"`
	// Replication is filled in in topologies without slots only.
	Replication *Replication `json:"replication,omitempty"`
	// Stranded, when not "", is what a step has found out since about keys that it holds and
	// the owners of their slots do not.
	Stranded string `json:"stranded,omitempty"`
}

// Answered reports whether the pod told what it is.
func (a *Answer) Answered() bool { return a.Problem == nil }

// Own is its entry about itself.
func (a *Answer) Own() node.Entry {
	for _, e := range a.Nodes {
		if e.Myself {
			return e
		}
	}
	return node.Entry{}
}

// Sees is its entry about a node.
func (a *Answer) Sees(id string) (node.Entry, bool) {
	for _, e := range a.Nodes {
		if e.ID == id {
			return e, true
		}
	}
	return node.Entry{}, false
}

// Lost is whether it knows another node and has no link to where that is. What a server
// calls connected may be a connection that it tries to make: to an address that a pod has
// left, where nobody is to refuse it, it tries for good.
func (a *Answer) Lost(other *Answer) bool {
	e, known := a.Sees(other.ID)
	return known && !e.Handshake && (!e.Linked || e.NoAddress || other.left(e))
}

// left is whether an entry has an address of it that is neither the one that it announces
// nor the one that it was reached at.
func (a *Answer) left(e node.Entry) bool {
	own := a.Own()
	if own.IP == "" || e.IP == "" {
		return false
	}
	for _, at := range []node.Address{{IP: own.IP, Port: own.Port}, a.Address} {
		if sameIP(e.IP, at.IP) && e.Port == at.Port {
			return false
		}
	}
	return true
}

// sameIP compares addresses that are written in different ways.
func sameIP(a, b string) bool {
	if a == b {
		return true
	}
	first, errFirst := netip.ParseAddr(a)
	second, errSecond := netip.ParseAddr(b)
	return errFirst == nil && errSecond == nil && first.Unmap() == second.Unmap()
}

// Silence is how long it has not heard directly of a node that it knows, at most as long as
// it runs: what it remembers from before says nothing.
func (a *Answer) Silence(id string) time.Duration {
	e, found := a.Sees(id)
	if !found || e.Myself {
		return 0
	}
	silence := time.Duration(a.Now-e.Pong) * time.Millisecond
	return max(0, min(silence, a.Uptime))
}

// Empty reports whether it owns no slot and holds no key.
func (a *Answer) Empty() bool { return a.Keys == 0 && len(a.Own().Slots) == 0 }

// View is one look at all pods.
type View struct {
	// Topology is what was asked for; "" is Cluster.
	Topology v1alpha1.Topology `json:"topology,omitempty"`
	// Answers has one for each pod that was asked, in that order.
	Answers []Answer `json:"answers"`
	// Sentinels has one for each sentinel that was asked.
	Sentinels []Sentinel `json:"sentinels,omitempty"`
}

// ByID returns the answer of the node with an ID, nil if no pod has it.
func (v *View) ByID(id string) *Answer {
	for i := range v.Answers {
		if v.Answers[i].Answered() && v.Answers[i].ID == id {
			return &v.Answers[i]
		}
	}
	return nil
}

// Owners are who owns which slots, merged from all answers.
type Owners struct {
	// Slots are the slots of each node, by ID. Nodes without slots are left out.
	Slots map[string]slot.Ranges `json:"slots"`
	// Unassigned are the slots that nobody claims.
	Unassigned slot.Ranges `json:"unassigned,omitempty"`
	// Contested are claimed by two nodes with the same epoch.
	Contested slot.Ranges `json:"contested,omitempty"`
}
