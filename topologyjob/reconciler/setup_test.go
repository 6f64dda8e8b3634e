// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/valkey-render/valkey-render/render/name"
)

// TestNobodyAsksForClustersThatAreNotWatched: in the reconciler's own namespace there are pods
// and Jobs of clusters that others look after.
func TestNobodyAsksForClustersThatAreNotWatched(t *testing.T) {
	meta := func(namespace string, labels map[string]string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: namespace, Name: "x", Labels: labels}
	}
	of := map[string]string{name.LabelCluster: "cache"}
	far := func(namespace string) map[string]string {
		return map[string]string{name.LabelCluster: "cache", name.LabelClusterNamespace: namespace}
	}
	some, all := Scope{Own: "system", Namespaces: []string{"shop"}}, Scope{Own: "system"}
	for what, s := range map[string]struct {
		scope  Scope
		object client.Object
		want   string
	}{
		"a pod of a cluster":                      {some, &corev1.Pod{ObjectMeta: meta("shop", of)}, "shop/cache"},
		"one of no cluster":                       {some, &corev1.Pod{ObjectMeta: meta("shop", nil)}, ""},
		"one beside the reconciler":               {some, &corev1.Pod{ObjectMeta: meta("system", of)}, ""},
		"where all namespaces are watched":        {all, &corev1.Pod{ObjectMeta: meta("system", of)}, "system/cache"},
		"the apply Job of a cluster":              {some, &batchv1.Job{ObjectMeta: meta("system", far("shop"))}, "shop/cache"},
		"that of one that somebody else is for":   {some, &batchv1.Job{ObjectMeta: meta("system", far("bank"))}, ""},
		"of any where all namespaces are watched": {all, &batchv1.Job{ObjectMeta: meta("system", far("bank"))}, "bank/cache"},
	} {
		t.Run(what, func(t *testing.T) {
			got := ""
			for _, request := range (&Reconciler{Scope: s.scope}).requests(s.object) {
				got += request.String()
			}
			if got != s.want {
				t.Errorf("%q, want %q", got, s.want)
			}
		})
	}
}
