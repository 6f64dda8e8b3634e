// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"time"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
)

// Result is what is to be written.
type Result struct {
	// Status of the ValkeyCluster.
	Status v1alpha1.ValkeyClusterStatus
	// Nodes are the ValkeyNodes as they are to be, one for each data pod that is wanted or
	// there, in order. A ValkeyNode that is in no Node is to be deleted.
	Nodes []Node
	// Events of the transition, in order.
	Events []Event
	// Measured is what is counted or measured.
	Measured Measured
	// Recheck is after how long to look again because time alone changes something; 0 is
	// never.
	Recheck time.Duration
}

// Node is a ValkeyNode as it is to be.
type Node struct {
	Name   string
	Spec   v1alpha1.ValkeyNodeSpec
	Status v1alpha1.ValkeyNodeStatus
}

// Event is something that happened.
type Event struct {
	// Node is the ValkeyNode that it is about, "" for the ValkeyCluster.
	Node string
	// Warning is false for type Normal.
	Warning bool
	// Reason is one of the constants of v1alpha1, Message what a person reads.
	Reason  string
	Message string
}

// Compute works out the status of c, which is as it was read: its status is the one from
// before. c need not have its defaults; neither c nor o is changed.
func Compute(c *v1alpha1.ValkeyCluster, o Observed, now time.Time) Result {
	return newComputation(c, o, now).result()
}
