// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/finding"
	"github.com/valkey-render/valkey-render/render/name"
)

// effects are all on one cluster, in no particular order.
func (c *cluster) effects() []Effect {
	c.pairs = slices.DeleteFunc(c.pairs, func(p pair) bool { return !p.added() && !p.gone() && p.equal() })
	if c.name != "" && c.existed != c.exists && len(c.of(v1alpha1.KindCluster))+len(c.of(kindStatefulSet)) > 0 {
		return c.whole()
	}
	refused := c.refusals()
	out, taken := c.workloads()
	out = append(out, c.claims(taken)...)
	out = append(out, c.live(taken)...)
	out = append(out, c.users(taken)...)
	out = append(out, c.immutable(refused, taken)...)
	out = append(out, refused...)
	out = append(out, c.others(taken)...)
	return append(out, c.settings(len(out) == 0)...)
}

// spec decodes a ValkeyCluster and gives it its defaults; nil for what is none, or
// was edited until it cannot be read.
func spec(o *unstructured.Unstructured) *v1alpha1.ValkeyCluster {
	if o == nil {
		return nil
	}
	out := &v1alpha1.ValkeyCluster{}
	if runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, out) != nil {
		return nil
	}
	out.Default()
	return out
}

// whole is the effect of a cluster that is new, or gone.
func (c *cluster) whole() []Effect {
	pods, claims := 0, 0
	for _, p := range c.pairs {
		switch p.kind() {
		case kindStatefulSet:
			pods += replicas(p.either())
		case kindClaim:
			claims++
		}
	}
	what := count(len(c.pairs), "object")
	if pods > 0 {
		what += ", " + count(pods, "pod")
	}
	if c.exists {
		e := c.effect(Creates, "a new cluster of "+what, c.pairs...)
		e.Pods = pods
		return []Effect{e}
	}
	message := "the whole cluster is no longer rendered: who prunes deletes " + what
	if claims > 0 {
		message += "; claims and the data on them are kept"
	} else if pods > 0 {
		message += " and the data in them"
	}
	e := c.effect(Deletes, message, c.pairs...)
	e.Pods = pods
	return []Effect{e}
}

// refusals are the changes of the spec that a running cluster cannot follow.
func (c *cluster) refusals() []Effect {
	if c.old == nil || c.now == nil {
		return nil
	}
	var out []Effect
	for _, err := range c.now.ValidateUpdate(c.old) {
		e := c.effect(Refused, err.ErrorBody(), c.of(v1alpha1.KindCluster)...)
		e.Path, e.Code = err.Field, finding.ChangeRefused
		out = append(out, e)
	}
	return out
}

// users are the changes of who may log in.
func (c *cluster) users(taken set) []Effect {
	changed := map[string]bool{}
	var from []pair
	compare := func(p pair, old, now []v1alpha1.UserSpec) {
		names := differing(old, now, func(u v1alpha1.UserSpec) string { return u.Name })
		for _, n := range names {
			changed[n] = true
		}
		if len(names) > 0 {
			from = append(from, p)
			taken.add(p)
		}
	}
	for _, p := range c.of(v1alpha1.KindACL) {
		if p.changed() && p.sameContent() {
			continue
		}
		compare(p, accessList(p.before), accessList(p.after))
		taken.add(p)
	}
	for _, p := range c.of(v1alpha1.KindCluster) {
		if c.old != nil && c.now != nil {
			compare(p, c.old.Spec.Users, c.now.Spec.Users)
		}
	}
	var out []Effect
	if len(changed) > 0 {
		out = append(out, c.effect(Users, listed(changed)+": "+c.toldUsers(name.ACLSecret(c.name)), from...))
	}
	if c.old != nil && c.now != nil && !reflect.DeepEqual(c.old.Spec.Auth, c.now.Spec.Auth) {
		message := "the default user takes another password"
		if c.old.AuthEnabled() != c.now.AuthEnabled() {
			message = "the default user needs no password any more"
			if c.now.AuthEnabled() {
				message = "the default user needs a password: clients without it are refused"
			}
		}
		out = append(out, c.effect(Users, message+"; no pod restarts", c.of(v1alpha1.KindCluster)...))
	}
	return out
}

func accessList(o *unstructured.Unstructured) []v1alpha1.UserSpec {
	if o == nil {
		return nil
	}
	acl := &v1alpha1.ValkeyACL{}
	if runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, acl) != nil {
		return nil
	}
	acl.Default()
	return acl.Spec.Users
}

// settings are the fields of the spec that only the reconciler reads, and, where
// nothing else says what a change does, every field that differs.
func (c *cluster) settings(alone bool) []Effect {
	if c.old == nil || c.now == nil {
		return nil
	}
	var fields []string
	before, after := reflect.ValueOf(c.old.Spec), reflect.ValueOf(c.now.Spec)
	for i := range before.NumField() {
		field, _, _ := strings.Cut(before.Type().Field(i).Tag.Get("json"), ",")
		if !reflect.DeepEqual(before.Field(i).Interface(), after.Field(i).Interface()) && (alone || onlyRead(field)) {
			fields = append(fields, "spec."+field)
		}
	}
	if len(fields) == 0 {
		return nil
	}
	return []Effect{c.effect(Settings, strings.Join(fields, ", ")+": read by the reconciler; no pod restarts", c.of(v1alpha1.KindCluster)...)}
}

// onlyRead tells whether nothing is rendered from a field of the spec.
func onlyRead(field string) bool {
	return slices.Contains([]string{"deletionPolicy", "delivery", "jobs", "jobsTemplate", "rebalance", "suspend"}, field)
}
