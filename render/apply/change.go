// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"errors"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Action is what became of an object, or would in a dry run.
type Action string

const (
	// Created: the object was absent.
	Created Action = "created"
	// Configured: the object was changed, or taken over.
	Configured Action = "configured"
	// Unchanged: nothing was written.
	Unchanged Action = "unchanged"
	// Deleted: the object is no longer rendered.
	Deleted Action = "deleted"
	// Kept: the object is no longer rendered and stays for good.
	Kept Action = "kept"
	// Held: the object is no longer rendered and stays until its shard is drained.
	Held Action = "held"
	// Failed: see the message.
	Failed Action = "failed"
)

// Change is what became of one object.
type Change struct {
	ID
	// Action is what was done.
	Action Action `json:"action"`
	// Message says why, where that is not plain.
	Message string `json:"message,omitempty"`
	// Fields that the server does not let change.
	Fields []FieldChange `json:"fields,omitempty"`

	// Live is the object before, nil if it was absent. Next is what it becomes,
	// nil if it goes. Both are unset for an unchanged object.
	Live *unstructured.Unstructured `json:"-"`
	Next *unstructured.Unstructured `json:"-"`

	err error
}

func failed(id ID, err error) Change { return failedTo("apply", id, err) }

func failedTo(verb string, id ID, err error) Change {
	c := Change{ID: id, Action: Failed, Message: explain(err), err: &ObjectError{ID: id, Verb: verb, Err: err}}
	if immutable, ok := errors.AsType[*ImmutableError](err); ok {
		c.Fields, c.Message, c.err = immutable.Fields, immutable.Error(), immutable
	}
	return c
}

// Result is what became of one cluster.
type Result struct {
	// Namespace and Name are the ValkeyCluster's.
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Changes of all objects, in the order in which they were made.
	Changes []Change `json:"changes"`
}

// Count is how many objects each action met.
func Count(results []Result) map[Action]int {
	out := map[Action]int{}
	for _, r := range results {
		for _, c := range r.Changes {
			out[c.Action]++
		}
	}
	return out
}
