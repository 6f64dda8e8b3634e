// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package name

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
)

// Kinds of the objects that Rendered lists.
const (
	KindService     = "Service"
	KindConfigMap   = "ConfigMap"
	KindBudget      = "PodDisruptionBudget"
	KindStatefulSet = "StatefulSet"
	KindClaim       = "PersistentVolumeClaim"
)

// Object is an object of a cluster.
type Object struct {
	Kind, Name string
	// Shard is -1 of what is not one shard's.
	Shard int32
}

// Rendered are the objects that a rendering of the spec always has: without one of them
// the cluster does not work, or is not protected. Patches may take some away.
func Rendered(c *v1alpha1.ValkeyCluster) []Object {
	d := c.DeepCopy()
	d.Default()
	var list []Object
	add := func(kind, object string, shard int32) {
		list = append(list, Object{Kind: kind, Name: object, Shard: shard})
	}
	for _, service := range services(d) {
		add(KindService, service, -1)
	}
	add(KindConfigMap, Live(d.Name), -1)
	add(KindConfigMap, Scripts(d.Name), -1)
	for shard := range d.ShardCount() {
		add(KindStatefulSet, StatefulSet(d.Name, shard), shard)
		if !d.HasClaims() {
			continue
		}
		for index := range d.PodsPerShard() {
			add(KindClaim, Claim(d.Name, shard, index), shard)
		}
	}
	if d.IsSentinel() {
		add(KindStatefulSet, SentinelStatefulSet(d.Name), -1)
	}
	for _, budget := range budgets(d) {
		add(KindBudget, budget, -1)
	}
	return list
}

func services(c *v1alpha1.ValkeyCluster) []string {
	list := []string{Client(c.Name), Nodes(c.Name)}
	if c.HasRoles() {
		list = append(list, Primary(c.Name), Replicas(c.Name))
	}
	if c.IsSentinel() {
		list = append(list, Sentinel(c.Name))
	}
	return list
}

func budgets(c *v1alpha1.ValkeyCluster) []string {
	var list []string
	switch c.BudgetMode() {
	case v1alpha1.BudgetDisabled:
		return nil
	case v1alpha1.BudgetCluster:
		list = append(list, ClusterBudget(c.Name))
	default:
		for shard := range c.ShardCount() {
			list = append(list, Budget(c.Name, shard))
		}
	}
	if c.IsSentinel() {
		list = append(list, Sentinel(c.Name))
	}
	return list
}

// ObjectsHash is a hash over the render hashes of what Rendered lists, but claims: one that
// was deleted comes back from the template of its StatefulSet, without a hash. hash is ""
// of an object that there is not.
func ObjectsHash(c *v1alpha1.ValkeyCluster, hash func(Object) string) string {
	all := sha256.New()
	for _, o := range Rendered(c) {
		if o.Kind == KindClaim {
			continue
		}
		if h := hash(o); h != "" {
			fmt.Fprintf(all, "%s/%s %s\n", o.Kind, o.Name, h)
		}
	}
	return hex.EncodeToString(all.Sum(nil))[:16]
}
