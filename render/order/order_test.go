// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package order_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"pgregory.net/rapid"

	"github.com/valkey-render/valkey-render/render/order"
)

func object(kind, namespace, name string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetKind(kind)
	u.SetNamespace(namespace)
	u.SetName(name)
	return u
}

func TestSortPutsStagesThenNamesInOrderWhateverTheInput(t *testing.T) {
	want := []string{
		"ValkeyCluster/a/cache", "ValkeyCluster/b/cache", "ValkeyACL/a/team",
		"ConfigMap/a/cache-live", "ConfigMap/a/cache-scripts", "ServiceAccount/a/x",
		"Service/a/cache", "Service/a/cache-nodes",
		"PersistentVolumeClaim/a/data-cache-2-0", "PersistentVolumeClaim/a/data-cache-10-0",
		"StatefulSet/a/cache-0", "StatefulSet/a/cache-2", "StatefulSet/a/cache-10",
		"PodDisruptionBudget/a/cache-0", "NetworkPolicy/a/cache", "Certificate/a/cache-tls",
		"PodMonitor/a/cache", "PrometheusRule/a/cache", "Job/a/cache-converge", "Ingress/a/cache",
	}
	var objs []*unstructured.Unstructured
	for _, id := range want {
		kind, rest, _ := cut(id)
		namespace, name, _ := cut(rest)
		objs = append(objs, object(kind, namespace, name))
	}
	for seed := range uint64(20) {
		shuffled := slices.Clone(objs)
		rand.New(rand.NewPCG(seed, 0)).Shuffle(len(shuffled), func(i, j int) {
			shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
		})
		order.Sort(shuffled)
		var got []string
		for _, o := range shuffled {
			got = append(got, o.GetKind()+"/"+o.GetNamespace()+"/"+o.GetName())
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("seed %d (-want +got):\n%s", seed, diff)
		}
	}
}

func cut(s string) (string, string, bool) {
	for i := range s {
		if s[i] == '/' {
			return s[:i], s[i+1:], true
		}
	}
	return s, "", false
}

func TestStagesHaveNames(t *testing.T) {
	seen := map[string]bool{}
	for s := order.Cluster; s <= order.Other; s++ {
		if seen[s.String()] {
			t.Errorf("stage %d shares the name %q", s, s)
		}
		seen[s.String()] = true
	}
}

func TestNaturalComparesRunsOfDigitsAsNumbers(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want int
	}{
		{"cache-2", "cache-10", -1},
		{"cache-10", "cache-2", 1},
		{"cache-2", "cache-2", 0},
		{"cache-02", "cache-2", -1},
		{"cache", "cache-0", -1},
		{"data-a-1-9", "data-a-1-10", -1},
		{"a1b", "a1c", -1},
		{"99999999999999999999998", "99999999999999999999999", -1},
		{"", "", 0},
	} {
		if got := order.Natural(tc.a, tc.b); got != tc.want {
			t.Errorf("Natural(%q, %q) = %d, want %d", tc.a, tc.b, got, tc.want)
		}
	}
}

func TestNaturalIsATotalOrder(t *testing.T) {
	word := rapid.StringMatching(`[ab0129-]{0,8}`)
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := word.Draw(t, "a"), word.Draw(t, "b"), word.Draw(t, "c")
		if order.Natural(a, b) != -order.Natural(b, a) {
			t.Fatalf("%q and %q are not antisymmetric", a, b)
		}
		if (order.Natural(a, b) == 0) != (a == b) {
			t.Fatalf("%q and %q compare equal", a, b)
		}
		if order.Natural(a, b) <= 0 && order.Natural(b, c) <= 0 && order.Natural(a, c) > 0 {
			t.Fatalf("%q, %q, %q are not transitive", a, b, c)
		}
	})
}
