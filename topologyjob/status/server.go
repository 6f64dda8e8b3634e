// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/topologyjob/slot"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// server is what a data pod's server told of itself, whatever the topology.
type server struct {
	// Pod is its name.
	Pod string
	// Problem is nil when it answered; else nothing below is filled in.
	Problem *survey.Problem
	// NodeID is its ID in topology Cluster.
	NodeID string
	// Version such as 9.1.2.
	Version string
	// Role it has, and the pod that a replica follows, "" when that is none of ours.
	Role    v1alpha1.NodeRole
	Primary string
	// LinkUp is whether a replica is connected to its primary and in sync, Syncing whether it
	// is taking a full copy.
	LinkUp, Syncing bool
	// Refuses is whether a primary takes no writes: it cannot write to its disk, or believes
	// that its cluster is down.
	Refuses bool
	// Offset in its replication history, and the ID of that history.
	Offset        int64
	ReplicationID string
	// Slots that it owns, and whether it has joined: it owns slots, or one that does knows
	// it. Only in topology Cluster.
	Slots  slot.Ranges
	Joined bool
}

// answered reports whether the server told what it is.
func (s *server) answered() bool { return s.Problem == nil }

// Settings are what is known of what was set on a running server.
type Settings struct {
	// LiveConfig of the live directives, nil when there are none.
	LiveConfig *Setting
	// ACL of the users.
	ACL *Setting
	// TLS of the certificate, nil without TLS.
	TLS *Setting
}

// Setting is one of them.
type Setting struct {
	// Reason is v1alpha1.ReasonApplied, ReasonPending, ReasonApplyFailed or
	// ReasonSecretMissing.
	Reason string
	// Message holds the server's words, without a secret.
	Message string
}

// readReplication takes a survey of a topology without slots apart.
func readReplication(view *survey.View) []server {
	var servers []server
	for i := range view.Answers {
		a := &view.Answers[i]
		if !a.Answered() || a.Replication == nil {
			problem := a.Problem
			if problem == nil {
				problem = &survey.Problem{Code: survey.Unreadable, Message: "it told nothing of its replication"}
			}
			servers = append(servers, server{Pod: a.Pod.Name, Problem: problem})
			continue
		}
		r := a.Replication
		s := server{
			Pod: a.Pod.Name, Version: a.Version, Role: v1alpha1.RolePrimary, Offset: a.Offset, ReplicationID: a.ReplicationID,
			Refuses: r.Primary && r.DiskError != "",
		}
		if !r.Primary {
			s.Role, s.LinkUp, s.Syncing = v1alpha1.RoleReplica, a.LinkUp, r.Syncing
			if primary := view.At(r.Follows); primary != nil && !r.Follows.Fenced() {
				s.Primary = primary.Pod.Name
			}
		}
		servers = append(servers, s)
	}
	return servers
}

// gone is the owner of slots that no pod that answered is.
type gone struct {
	pod   string
	id    string
	slots slot.Ranges
	// failed is whether a server that answered misses it.
	failed bool
}

// read takes a survey apart. remembered has the pods of node IDs from before.
func read(view *survey.View, remembered map[string]string) (servers []server, lost []gone, owners survey.Owners) {
	owners = view.Owners()
	pods := map[string]string{}
	for i := range view.Answers {
		if a := &view.Answers[i]; a.Answered() {
			pods[a.ID] = a.Pod.Name
		}
	}
	known := knownByOwners(view, owners)
	for i := range view.Answers {
		a := &view.Answers[i]
		if !a.Answered() {
			servers = append(servers, server{Pod: a.Pod.Name, Problem: a.Problem})
			continue
		}
		own := a.Own()
		s := server{
			Pod: a.Pod.Name, NodeID: a.ID, Version: a.Version, Role: v1alpha1.RolePrimary,
			Offset: a.Offset, ReplicationID: a.ReplicationID, Slots: owners.Slots[a.ID],
			Joined: known[a.ID] || len(owners.Slots[a.ID]) > 0,
		}
		if own.Replica {
			s.Role, s.Primary, s.LinkUp, s.Syncing = v1alpha1.RoleReplica, pods[own.Primary], a.LinkUp, a.Syncing
		} else {
			s.Refuses = !a.StateOK
		}
		servers = append(servers, s)
	}
	for id, slots := range owners.Slots {
		if pods[id] == "" {
			lost = append(lost, gone{pod: remembered[id], id: id, slots: slots, failed: missed(view, id)})
		}
	}
	return servers, lost, owners
}

// missed reports whether a server that answered suspects a node, or has given it up.
func missed(view *survey.View, id string) bool {
	for i := range view.Answers {
		if e, known := view.Answers[i].Sees(id); known && (e.Failed || e.Suspected || e.NoAddress) {
			return true
		}
	}
	return false
}

// knownByOwners are the IDs that an owner of slots has met.
func knownByOwners(view *survey.View, owners survey.Owners) map[string]bool {
	known := map[string]bool{}
	for i := range view.Answers {
		a := &view.Answers[i]
		if !a.Answered() || len(owners.Slots[a.ID]) == 0 {
			continue
		}
		for _, e := range a.Nodes {
			if !e.Handshake && !e.Myself {
				known[e.ID] = true
			}
		}
	}
	return known
}
