// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package load_test

import (
	"fmt"

	"github.com/valkey-render/valkey-render/render/load"
)

// Every violation is found in one run, with its line and what was probably meant.
func ExampleParse() {
	text := `apiVersion: valkey-render.dev/v1alpha1
kind: ValkeyCluster
metadata: {name: cache, namespace: shop}
spec:
  shard: 3
  version: 9.1
`
	set, findings := load.Parse([]load.Source{{Name: "cache.yaml", Data: []byte(text)}}, load.Options{})
	fmt.Println(len(set.Clusters), "cluster:", set.Clusters[0].Object.Name)
	for _, f := range findings {
		fmt.Println(f)
	}
	// Output:
	// 1 cluster: cache
	// cache.yaml:5:3: error VR0101 ValkeyCluster/shop/cache spec.shard: unknown field; did you mean "shards"? (document 1)
	// cache.yaml:6:3: error VR0103 ValkeyCluster/shop/cache spec.version: 9.1 is a number where text is wanted; write "9.1" (document 1)
}
