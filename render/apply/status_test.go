// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

func parsed(t testing.TB, text string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	data, err := yaml.YAMLToJSON([]byte(text))
	if err == nil {
		err = o.UnmarshalJSON(data)
	}
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestStatusOf(t *testing.T) {
	const set = "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: cache-0, namespace: shop, generation: 2}\n"
	const claim = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: c, namespace: shop}\nspec: {resources: {requests: {storage: 2Gi}}}\n"
	const job = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j, namespace: shop}\n"
	const cluster = "apiVersion: valkey-render.dev/v1alpha1\nkind: ValkeyCluster\nmetadata: {name: cache, namespace: shop, generation: 3}\n"
	for name, c := range map[string]struct {
		object string
		state  State
		text   string
	}{
		"statefulset that nobody has seen":     {set + "spec: {replicas: 2, updateStrategy: {type: OnDelete}}", Waiting, "its controller has not seen it yet"},
		"statefulset with an old look":         {set + "status: {observedGeneration: 1}", Waiting, "its controller has not seen the last change yet"},
		"OnDelete without a ready pod":         {set + "spec: {replicas: 2, updateStrategy: {type: OnDelete}}\nstatus: {observedGeneration: 2, replicas: 2, readyReplicas: 0}", Waiting, "0 of 2 pods are ready"},
		"OnDelete with pods of an old":         {set + "spec: {replicas: 2, updateStrategy: {type: OnDelete}}\nstatus: {observedGeneration: 2, replicas: 2, readyReplicas: 2, updatedReplicas: 1}", Waiting, "1 of 2 pods run the new template: the reconciler rolls them"},
		"OnDelete rolled":                      {set + "spec: {replicas: 2, updateStrategy: {type: OnDelete}}\nstatus: {observedGeneration: 2, replicas: 2, readyReplicas: 2, updatedReplicas: 2}", Ready, ""},
		"rolling":                              {set + "spec: {replicas: 2, updateStrategy: {type: RollingUpdate}}\nstatus: {observedGeneration: 2, replicas: 2, readyReplicas: 2, updatedReplicas: 1}", Waiting, "1 of 2 pods run the new template"},
		"rolled down to a partition":           {set + "spec: {replicas: 2, updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 1}}}\nstatus: {observedGeneration: 2, replicas: 2, readyReplicas: 2, updatedReplicas: 1}", Ready, ""},
		"statefulset that stops pods":          {set + "spec: {replicas: 1}\nstatus: {observedGeneration: 2, replicas: 2, readyReplicas: 2}", Waiting, "1 of 2 pods are to stop"},
		"hibernating":                          {set + "spec: {replicas: 0}\nstatus: {observedGeneration: 2, replicas: 0}", Ready, ""},
		"one pod by default":                   {set + "status: {observedGeneration: 2}", Waiting, "0 of 1 pods are ready"},
		"claim that waits":                     {claim + "status: {phase: Pending}", Waiting, "is not bound"},
		"claim bound":                          {claim + "status: {phase: Bound, capacity: {storage: 2Gi}}", Ready, ""},
		"claim that grows":                     {claim + "status: {phase: Bound, capacity: {storage: 1Gi}}", Waiting, "grows from 1Gi to 2Gi"},
		"claim that waits for its file system": {claim + "status: {phase: Bound, capacity: {storage: 1Gi}, conditions: [{type: FileSystemResizePending, status: 'True', message: a pod must start}]}", Waiting, "grows from 1Gi to 2Gi: a pod must start"},
		"claim whose driver says nothing":      {claim + "status: {phase: Bound, capacity: {storage: 1Gi}, conditions: [{type: Resizing, status: 'True'}]}", Waiting, "grows from 1Gi to 2Gi: Resizing"},
		"claim without its volume":             {claim + "status: {phase: Lost}", Stuck, "its volume is gone"},
		"job started":                          {job + "status: {active: 1, startTime: '2026-01-01T00:00:00Z'}", Waiting, "has not completed"},
		"job complete":                         {job + "status: {conditions: [{type: Complete, status: 'True'}]}", Ready, ""},
		"job failed":                           {job + "status: {conditions: [{type: Failed, status: 'True', reason: DeadlineExceeded}]}", Stuck, "DeadlineExceeded"},
		"cluster before the first look":        {cluster + "status: {observedGeneration: -1, state: Initializing}", Waiting, "its controller has not seen the last change yet"},
		"cluster without conditions":           {cluster + "status: {observedGeneration: 3}", Waiting, "its controller has not seen it yet"},
		"cluster on the way":                   {cluster + "status: {observedGeneration: 3, conditions: [{type: Ready, status: 'False', reason: MissingShards, message: 2 of 3}]}", Waiting, "MissingShards: 2 of 3"},
		"cluster ready of an old generation":   {cluster + "status: {observedGeneration: 3, conditions: [{type: Ready, status: 'True', observedGeneration: 2}]}", Waiting, "its controller has not seen the last change yet"},
		"cluster ready":                        {cluster + "status: {observedGeneration: 3, conditions: [{type: Ready, status: 'True', observedGeneration: 3}]}", Ready, ""},
		"cluster stalled":                      {cluster + "status: {observedGeneration: 3, conditions: [{type: Ready, status: 'False'}, {type: Stalled, status: 'True', reason: JobBlocked}]}", Stuck, "JobBlocked"},
		"certificate just made":                {"apiVersion: cert-manager.io/v1\nkind: Certificate\nmetadata: {name: c, namespace: shop}", Waiting, "its controller has not seen it yet"},
		"budget just made":                     {"apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: b, namespace: shop}", Waiting, "its controller has not seen it yet"},
		"budget":                               {"apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: b, namespace: shop}\nstatus: {observedGeneration: 1}", Ready, ""},
		"config":                               {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: shop}", Ready, ""},
		"load balancer without an address":     {"apiVersion: v1\nkind: Service\nmetadata: {name: s, namespace: shop}\nspec: {type: LoadBalancer}", Waiting, "ClusterIP not set. Service type: LoadBalancer"},
		"going":                                {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: shop, deletionTimestamp: '2026-01-01T00:00:00Z'}", Waiting, "is being deleted"},
	} {
		t.Run(name, func(t *testing.T) {
			got := StatusOf(parsed(t, c.object))
			if got.State != c.state || got.Message != c.text {
				t.Errorf("%s: %q, not %s: %q", got.State, got.Message, c.state, c.text)
			}
		})
	}
}

func TestFitClaim(t *testing.T) {
	const claim = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: c, namespace: shop}\nspec: {resources: {requests: {storage: "
	for name, c := range map[string]struct {
		rendered, live, size string
		notes                []string
	}{
		"equal":               {claim + "2Gi}}}", claim + "2048Mi}}}\nstatus: {phase: Bound}", "2Gi", nil},
		"grows":               {claim + "3Gi}}}", claim + "2Gi}}}\nstatus: {phase: Bound}", "3Gi", nil},
		"does not shrink":     {claim + "1Gi}}}", claim + "2Gi}}}\nstatus: {phase: Bound}", "2Gi", []string{"PersistentVolumeClaim/shop/c: is 2Gi and 1Gi is rendered: claims do not shrink, it stays as it is"}},
		"not bound":           {claim + "3Gi}}}", claim + "2Gi}}}\nstatus: {phase: Pending}", "2Gi", []string{"PersistentVolumeClaim/shop/c: is not bound yet, so it stays at 2Gi; it becomes 3Gi once a pod uses it: with --wait, or when applied again"}},
		"of another kind":     {"apiVersion: v1\nkind: Pod\nmetadata: {name: c}\nspec: {resources: {requests: {storage: 1Gi}}}", claim + "2Gi}}}", "1Gi", nil},
		"without a live size": {claim + "3Gi}}}", "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: c}", "3Gi", nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := step{object: parsed(t, c.rendered)}
			s.fitClaim(parsed(t, c.live))
			var notes []string
			for _, n := range s.notes {
				notes = append(notes, n.String())
			}
			if diff := cmp.Diff(c.notes, notes); diff != "" {
				t.Error(diff)
			}
			if size, _ := quantityAt(s.object, requestPath()...); size.String() != c.size {
				t.Errorf("asks for %s, not %s", size.String(), c.size)
			}
		})
	}
}
