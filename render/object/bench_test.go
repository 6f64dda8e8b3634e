// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package object

import (
	"fmt"
	"runtime"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// BenchmarkComposeThreeShards renders one Durable cluster of three shards.
func BenchmarkComposeThreeShards(b *testing.B) {
	c, _ := readCase(b, casesDir+"/durable-with-everything")
	*c.Spec.Shards = 3
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Compose(c); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkComposeThousandClusters renders a thousand clusters of three shards on
// all processors, and keeps the results.
func BenchmarkComposeThousandClusters(b *testing.B) {
	c, _ := readCase(b, casesDir+"/durable-with-everything")
	*c.Spec.Shards = 3
	c.Spec.Metrics = nil
	b.ReportAllocs()
	for b.Loop() {
		var results [1000][]*unstructured.Unstructured
		var group sync.WaitGroup
		workers := runtime.GOMAXPROCS(0)
		for w := range workers {
			group.Go(func() {
				for i := w; i < len(results); i += workers {
					one := c.DeepCopy()
					one.Name = fmt.Sprintf("c%d-x", i)
					results[i], _ = Compose(one)
				}
			})
		}
		group.Wait()
	}
}
