// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"strings"

	"github.com/valkey-render/valkey-render/topologyjob/slot"
)

// Step is one idempotent move: a plain value that says what to do to whom. Package step
// does it.
type Step interface {
	// Kind is its name in logs and counters, such as "meet".
	Kind() string
	// String says what it does, as the end of "would …".
	String() string
	// Why says what made it necessary.
	Why() string
}

// Ref is a node: the pod that is dialled and the ID that it must have.
type Ref struct {
	Pod string `json:"pod"`
	ID  string `json:"id"`
}

// String is the pod with the beginning of the ID.
func (r Ref) String() string { return r.Pod + " (" + short(r.ID) + ")" }

func short(id string) string { return id[:min(8, len(id))] }

// Because is the reason that a step carries.
type Because string

// Why implements Step.
func (b Because) Why() string { return string(b) }

// Epochs gives empty nodes config epochs of their own, before they know each other, so
// that none of them has to give way later.
type Epochs struct {
	Because
	Nodes []Epoch
}

// Epoch is a config epoch for a node.
type Epoch struct {
	Ref
	Epoch uint64
}

// Kind implements Step.
func (Epochs) Kind() string { return "epochs" }

func (s Epochs) String() string { return fmt.Sprintf("number %s", count(len(s.Nodes), "node")) }

// Meet makes nodes know each other.
type Meet struct {
	Because
	Edges []Edge
	// Again is whether they knew each other before, at addresses that they left.
	Again bool
}

// Edge is one CLUSTER MEET: From is told the address of To.
type Edge struct{ From, To Ref }

// Kind implements Step.
func (s Meet) Kind() string {
	if s.Again {
		return "meet-again"
	}
	return "meet"
}

func (s Meet) String() string {
	nodes := map[string]bool{}
	for _, e := range s.Edges {
		nodes[e.From.ID], nodes[e.To.ID] = true, true
	}
	return fmt.Sprintf("MEET %s", count(len(nodes), "node"))
}

// Assign gives slots that nobody owns to primaries.
type Assign struct {
	Because
	Claims []Claim
	// Gone are nodes that do not come back. What is claimed of their slots, the claimant was
	// importing from them.
	Gone []string
}

// Claim are slots for a node.
type Claim struct {
	Ref
	Slots slot.Ranges
}

// Kind implements Step.
func (Assign) Kind() string { return "assign" }

func (s Assign) String() string {
	n := 0
	for _, c := range s.Claims {
		n += c.Slots.Count()
	}
	return fmt.Sprintf("assign %s to %s", count(n, "slot"), count(len(s.Claims), "primary"))
}

// Attach makes nodes replicas.
type Attach struct {
	Because
	Replicas []Attachment
}

// Attachment is a replica for a primary.
type Attachment struct{ Replica, Primary Ref }

// Kind implements Step.
func (Attach) Kind() string { return "attach" }

func (s Attach) String() string { return fmt.Sprintf("attach %s", count(len(s.Replicas), "replica")) }

// count is "1 node", "3 nodes", "3 keys", "3 primaries".
func count(n int, what string) string {
	switch {
	case n == 1:
		return "1 " + what
	case strings.HasSuffix(what, "ry"):
		return fmt.Sprintf("%d %sies", n, what[:len(what)-1])
	}
	return fmt.Sprintf("%d %ss", n, what)
}
