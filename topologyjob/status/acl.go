// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
)

// ComputeACL works out the status of a ValkeyACL. c is its cluster with the status that was
// just worked out, nil when there is none; o is what was seen of that cluster.
func ComputeACL(a *v1alpha1.ValkeyACL, c *v1alpha1.ValkeyCluster, o Observed, now time.Time) v1alpha1.ValkeyACLStatus {
	s := v1alpha1.ValkeyACLStatus{ObservedGeneration: a.Generation}
	for _, pod := range o.Pods {
		if known := o.Settings[pod.Name].ACL; !pod.Sentinel && known != nil && known.Reason == v1alpha1.ReasonApplied {
			s.AppliedNodes++
		}
	}
	set := conditions{}
	f := aclTrouble(a, c, o)
	if f == nil {
		s.Users = int32(len(a.Spec.Users))
		f = &finding{v1alpha1.ReasonApplied, fmt.Sprintf("Every server has the %d users", s.Users)}
	} else {
		s.AppliedNodes = min(s.AppliedNodes, a.Status.AppliedNodes)
	}
	set.set(v1alpha1.ConditionReady, f.reason == v1alpha1.ReasonApplied, *f)
	s.Conditions = set.list(a.Status.Conditions, a.Generation, metav1.NewTime(now.Truncate(time.Second)))
	return s
}

// aclTrouble is why the users of a ValkeyACL are not in effect, nil when they are.
func aclTrouble(a *v1alpha1.ValkeyACL, c *v1alpha1.ValkeyCluster, o Observed) *finding {
	cluster := a.Spec.ClusterRef.Name
	switch {
	case c == nil:
		return &finding{v1alpha1.ReasonClusterNotReady, fmt.Sprintf("There is no ValkeyCluster %s in namespace %s: create it, or correct spec.clusterRef", cluster, a.Namespace)}
	case !c.Status.ClusterInitialized:
		return &finding{v1alpha1.ReasonClusterNotReady, fmt.Sprintf("ValkeyCluster %s is not formed yet", cluster)}
	}
	if text := conflict(a, c, o.ACLs); text != "" {
		return &finding{v1alpha1.ReasonConflict, text}
	}
	if text := missingPassword(a, c, o.Secrets); text != "" {
		return &finding{v1alpha1.ReasonSecretMissing, text}
	}
	for _, d := range c.Status.ShardDetails {
		if d.Health == v1alpha1.ShardDown || d.Health == v1alpha1.ShardUnknown {
			return &finding{v1alpha1.ReasonPrimaryUnreachable, fmt.Sprintf("The primary of shard %d does not answer", d.Index)}
		}
	}
	return notApplied(o)
}

// conflict says where else a user is defined.
func conflict(a *v1alpha1.ValkeyACL, c *v1alpha1.ValkeyCluster, acls []*v1alpha1.ValkeyACL) string {
	var list []string
	defines := func(users []v1alpha1.UserSpec, called string) bool {
		return slices.ContainsFunc(users, func(u v1alpha1.UserSpec) bool { return u.Name == called })
	}
	for _, u := range a.Spec.Users {
		if defines(c.Spec.Users, u.Name) {
			list = append(list, fmt.Sprintf("user %s is in spec.users of ValkeyCluster %s too", u.Name, c.Name))
		}
		for _, other := range acls {
			if other.Name != a.Name && other.Namespace == a.Namespace && other.Spec.ClusterRef.Name == c.Name && defines(other.Spec.Users, u.Name) {
				list = append(list, fmt.Sprintf("user %s is in ValkeyACL %s too", u.Name, other.Name))
			}
		}
	}
	return some(list)
}

// missingPassword says which key of a Secret is not there.
func missingPassword(a *v1alpha1.ValkeyACL, c *v1alpha1.ValkeyCluster, secrets map[string]Secret) string {
	if secrets == nil {
		return ""
	}
	var list []string
	for i := range a.Spec.Users {
		u := &a.Spec.Users[i]
		password := u.Password(c.Name)
		if password == nil || !u.IsEnabled() {
			continue
		}
		for _, key := range password.Keys {
			switch live, there := secrets[password.Name]; {
			case !there:
				list = append(list, fmt.Sprintf("user %s: Secret %s is missing", u.Name, password.Name))
			case !slices.Contains(live.Keys, key):
				list = append(list, fmt.Sprintf("user %s: Secret %s has no key %s", u.Name, password.Name, key))
			}
		}
	}
	return some(slices.Compact(list))
}

// notApplied says which servers do not have the users.
func notApplied(o Observed) *finding {
	var refused, pending []string
	servers := 0
	for i := range o.Pods {
		p := &o.Pods[i]
		if p.Sentinel || p.Deleting {
			continue
		}
		servers++
		switch s := o.Settings[p.Name].ACL; {
		case s == nil || s.Reason == v1alpha1.ReasonPending:
			pending = append(pending, "pod "+p.Name)
		case s.Reason != v1alpha1.ReasonApplied:
			refused = append(refused, "pod "+p.Name+": "+s.Message)
		}
	}
	slices.Sort(refused)
	slices.Sort(pending)
	switch {
	case len(refused) > 0:
		return &finding{v1alpha1.ReasonApplyFailed, some(refused)}
	case servers == 0:
		return &finding{v1alpha1.ReasonPending, "There are no servers"}
	case len(pending) > 0:
		return &finding{v1alpha1.ReasonPending, "Not on every server yet: " + some(pending)}
	}
	return nil
}
