// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// Observed is everything that was seen of one cluster, but for the ValkeyCluster itself.
type Observed struct {
	// Invalid says what is wrong with the spec, "" when nothing is. Nothing is done then.
	Invalid string
	// Rendering is what is known of the rendered objects as a whole.
	Rendering Rendering
	// Objects are all objects of the cluster that are there and of which no more needs to
	// be known than that: Services, ConfigMaps, PodDisruptionBudgets. name.Rendered lists
	// those that have to be.
	Objects []Object
	// StatefulSets of the cluster, by its label.
	StatefulSets []StatefulSet
	// Pods of its StatefulSets, in any order.
	Pods []Pod
	// Claims are its PersistentVolumeClaims.
	Claims []Claim
	// Secrets that exist of those in SecretNames, by name.
	Secrets map[string]Secret
	// ACLs are all ValkeyACLs of the namespace; those of other clusters are left out.
	ACLs []*v1alpha1.ValkeyACL
	// Nodes are the ValkeyNodes that exist, with the status from before.
	Nodes []v1alpha1.ValkeyNode
	// View is what the servers told; nil when nobody was asked, which says nothing of them.
	View *survey.View
	// Jobs of the cluster that exist.
	Jobs []Job
	// Next is what was decided.
	Next Next
	// Settings are what is known of live directives, users and certificates of a server,
	// by pod. A pod that is not in it is Pending for all of them.
	Settings map[string]Settings
	// Actions that begin or ended since the status from before, by name.
	Actions []v1alpha1.ActionStatus
	// Drained is what status.drainedShards is to be.
	Drained []int32
	// Fingerprint is the lower-case hex SHA-256 of the leaf certificate that the last Job of
	// kind tls saw every pod serve, "" when there is no such Job any more.
	Fingerprint string
	// Guard is whether the admission policies of package guard are installed; nil when it
	// is not known.
	Guard *bool
	// Orphans are StatefulSets of shards in the namespace whose cluster label names no
	// ValkeyCluster, for a while now. They are given to one ValkeyCluster of the namespace at
	// most.
	Orphans []string
	// Failures are requests to the API server that the reconciler made for this cluster
	// and that failed.
	Failures []Failure
}

// Rendering is what is known of the rendered objects as a whole.
type Rendering struct {
	// Current is whether what is live was rendered for the spec of this generation.
	Current bool
	// Hash is the annotation v1alpha1.AnnotationRenderHash of the ValkeyCluster, or of
	// what an apply Job has made; for status.renderHash.
	Hash string
	// Objects is the annotation v1alpha1.AnnotationObjectsHash of the ValkeyCluster, "" where
	// there is none.
	Objects string
}

// Object is a rendered object that is there.
type Object struct {
	Kind string
	Name string
	// Generation is metadata.generation, 0 for kinds without.
	Generation int64
	// RenderHash is its annotation v1alpha1.AnnotationRenderHash.
	RenderHash string
	// Shard is its label, -1 without.
	Shard int32
	// Keys are the keys of a ConfigMap that have content.
	Keys []string
}

// Secret is what may be known of a Secret: never what is in it.
type Secret struct {
	// ResourceVersion as read.
	ResourceVersion string
	// Keys that are there and not empty.
	Keys []string
}

// Verb is what a request was to do.
type Verb string

// Verbs of Failure.
const (
	VerbList   Verb = "list"
	VerbCreate Verb = "create"
	VerbUpdate Verb = "update"
	VerbDelete Verb = "delete"
	VerbEvict  Verb = "evict"
)

// Failure is a request of the reconciler that the API server refused.
type Failure struct {
	Verb Verb
	Kind string
	Name string
	// Message is the error's, without a secret.
	Message string
}
