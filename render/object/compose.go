// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package object

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
)

// Compose returns the objects that run one cluster. c is defaulted and valid and
// is not changed. The order means nothing. spec.patches are not applied. An error
// joins everything that cannot be rendered, each with the path in the spec.
func Compose(c *v1alpha1.ValkeyCluster) ([]*unstructured.Unstructured, error) {
	s := sink{objects: make([]*unstructured.Unstructured, 0, int(c.ShardCount())*(2+int(c.PodsPerShard()))+16)}
	s.configuration(c)
	s.network(c)
	s.workloads(c)
	s.monitoring(c)
	if err := errors.Join(s.problems...); err != nil {
		return nil, fmt.Errorf("%s: %w", name.Subject(v1alpha1.KindCluster, c.Namespace, c.Name), err)
	}
	return s.objects, nil
}

// Specs returns a ValkeyCluster and its ValkeyACLs as they are applied: what was
// written, without the defaults, so that a derived value never outlives what it was
// derived from. Whoever renders is the one who delivers, so delivery is GitOps.
func Specs(c *v1alpha1.ValkeyCluster, acls []*v1alpha1.ValkeyACL) ([]*unstructured.Unstructured, error) {
	var s sink
	add(&s, clusterObject(c))
	for _, a := range acls {
		add(&s, aclObject(a))
	}
	if err := errors.Join(s.problems...); err != nil {
		return nil, fmt.Errorf("%s: %w", name.Subject(v1alpha1.KindCluster, c.Namespace, c.Name), err)
	}
	return s.objects, nil
}

// ACL returns a ValkeyACL as it is applied, for one whose cluster is rendered
// elsewhere.
func ACL(a *v1alpha1.ValkeyACL) (*unstructured.Unstructured, error) {
	var s sink
	add(&s, aclObject(a))
	if err := errors.Join(s.problems...); err != nil {
		return nil, err
	}
	return s.objects[0], nil
}

// sink collects objects and what went wrong with others.
type sink struct {
	objects  []*unstructured.Unstructured
	problems []error
}

func (s *sink) configuration(c *v1alpha1.ValkeyCluster) {
	live, err := liveConfigMap(c)
	s.check(err)
	add(s, live)
	add(s, scriptsConfigMap(c))
	add(s, dashboardConfigMap(c))
}

func (s *sink) network(c *v1alpha1.ValkeyCluster) {
	for _, service := range services(c) {
		add(s, service)
	}
	for _, policy := range networkPolicies(c) {
		add(s, policy)
	}
	s.addRaw(certificate(c))
}

func (s *sink) workloads(c *v1alpha1.ValkeyCluster) {
	for shard := range c.ShardCount() {
		for _, claim := range claims(c, shard) {
			add(s, claim)
		}
	}
	pods, err := newDataPods(c)
	s.check(err)
	if err == nil {
		for shard := range c.ShardCount() {
			set, err := dataStatefulSet(pods, shard)
			s.check(err)
			add(s, set)
		}
	}
	sentinel, err := sentinelStatefulSet(c)
	s.check(err)
	add(s, sentinel)
	for _, budget := range budgets(c) {
		add(s, budget)
	}
}

func (s *sink) monitoring(c *v1alpha1.ValkeyCluster) {
	s.addRaw(podMonitor(c))
	s.addRaw(prometheusRule(c))
}

func (s *sink) check(err error) {
	if err != nil {
		s.problems = append(s.problems, err)
	}
}

// add converts a typed object; nil is not wanted.
func add[T any](s *sink, object *T) {
	if object == nil {
		return
	}
	content, err := toUnstructured(object)
	s.check(err)
	s.addRaw(content)
}

// addRaw takes an object of a kind that has no Go type here; nil is not wanted.
func (s *sink) addRaw(content map[string]any) {
	if content != nil {
		s.objects = append(s.objects, &unstructured.Unstructured{Object: content})
	}
}
