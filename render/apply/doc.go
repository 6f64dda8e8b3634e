// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package apply brings rendered objects into a Kubernetes cluster and takes out
// what is no longer rendered:
//
//	group → read inventory → dry-run all → record intent → drain → apply by stage → prune → promote → wait
//
// It is the one package below render that talks to a server. Every object is
// applied server-side under one field manager, and only when a dry run says that
// the server would change it: a run with nothing to do writes nothing.
//
// A run can be killed anywhere and started again. What it is about to make is in
// the inventory before it is made, and what it failed to delete stays there.
// Nothing is deleted that is not in the inventory and labelled as the cluster's;
// claims are never deleted, and a StatefulSet with data only when its shard is
// drained or the ValkeyCluster allows it. Where no reconciler drains (jobs: Rendered), a Job
// does, and has ended before anything else is changed. No error is answered with a delete.
package apply
