// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"slices"
	"strings"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/acl"
	"github.com/valkey-render/valkey-render/topologyjob/secret"
)

// outdated are the data pods that run an older template than their StatefulSet has.
func (x *computation) outdated() []string {
	var list []string
	for n, p := range x.pods {
		if !p.Sentinel && x.old(p) {
			list = append(list, n)
		}
	}
	slices.Sort(list)
	return list
}

// old is whether a pod runs an older template.
func (x *computation) old(p *Pod) bool {
	for _, s := range x.sets {
		if s.Sentinel == p.Sentinel && (p.Sentinel || s.Shard == p.Shard) && s.UpdateRevision != "" && p.Revision != "" && p.Revision != s.UpdateRevision {
			return true
		}
	}
	return false
}

// rolling is whether pods are being replaced: by us, or by the StatefulSet controller.
func (x *computation) rolling() bool {
	if x.c.Spec.Hibernate || x.o.Next.RollRefused != "" {
		return false
	}
	return x.does(WorkRoll) || x.c.RolloutMode() == v1alpha1.RolloutStatefulSet && len(x.outdated()) > 0
}

// configApplied is whether pods run what was rendered.
func (x *computation) configApplied() {
	const kind = v1alpha1.ConditionConfigApplied
	switch {
	case x.o.Next.RollRefused != "":
		x.conditions.set(kind, false, finding{v1alpha1.ReasonRollRefused, x.o.Next.RollRefused})
	case x.rolling():
		x.conditions.set(kind, false, finding{v1alpha1.ReasonRollInProgress, "Pods are being replaced"})
	case len(x.outdated()) > 0:
		x.conditions.set(kind, false, finding{v1alpha1.ReasonRollPending, x.pending(x.outdated())})
	case x.settingRefused() != nil:
		x.conditions.set(kind, false, *x.settingRefused())
	default:
		x.conditions.set(kind, true, finding{v1alpha1.ReasonApplied, "Pods run what was rendered"})
	}
}

// pending says why pods that run an older template are not replaced yet.
func (x *computation) pending(old []string) string {
	text := fmt.Sprintf("%d pods run an older template", len(old))
	switch next := x.o.Next; {
	case x.c.Spec.Suspend:
		return text + ", and stay while spec.suspend is true"
	case x.c.Spec.Hibernate:
		return text + ", and go, as spec.hibernate asks"
	case x.o.Invalid != "":
		return text + ", and stay until the spec is valid"
	case next.Blocked != nil:
		return text + ", and stay until this is put right: " + next.Blocked.Message
	case len(next.Waiting) > 0:
		return text + ". Before they are replaced: " + some(steady(next.Waiting))
	}
	return text + ", and are replaced after what is being done now"
}

// aclApplied is whether servers have the users of the spec.
func (x *computation) aclApplied() {
	const kind = v1alpha1.ConditionACLApplied
	if f := x.missingSecrets(); f != nil {
		x.conditions.set(kind, false, finding{v1alpha1.ReasonSecretMissing, f.message})
		return
	}
	var refused, pending []string
	for i := range x.o.Pods {
		p := &x.o.Pods[i]
		if p.Sentinel || p.Deleting {
			continue
		}
		switch s := x.o.Settings[p.Name].ACL; {
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
		x.conditions.set(kind, false, finding{v1alpha1.ReasonApplyFailed, some(refused)})
	case len(pending) > 0 || !x.anyPod():
		x.conditions.set(kind, false, finding{v1alpha1.ReasonPending, strings.TrimSpace("Not on every server yet: " + some(pending))})
	default:
		x.conditions.set(kind, true, finding{v1alpha1.ReasonApplied, "Every server has the users"})
	}
}

// missingSecrets says which Secrets or keys are not there; its reason is that of Ready.
func (x *computation) missingSecrets() *finding {
	if x.o.Secrets == nil || x.c.EffectiveJobs() == v1alpha1.JobsRendered {
		return nil
	}
	users, err := acl.Merge(x.c, x.o.ACLs)
	if err != nil {
		return &finding{v1alpha1.ReasonUsersACLError, err.Error() + ". Take the user out of one of them"}
	}
	owned := secret.Owned(x.c)
	var theirs, ours []string
	for _, ref := range acl.Needs(x.c, users) {
		live, there := x.o.Secrets[ref.Secret]
		if there && slices.Contains(live.Keys, ref.Key) {
			continue
		}
		text := fmt.Sprintf("Secret %s has no key %s", ref.Secret, ref.Key)
		if !there {
			text = fmt.Sprintf("Secret %s is missing", ref.Secret)
		}
		list := &theirs
		if slices.Contains(owned, ref.Secret) {
			list = &ours
		}
		if !slices.Contains(*list, text) {
			*list = append(*list, text)
		}
	}
	if n := name.ACLSecret(x.c.Name); len(x.o.Secrets[n].Keys) == 0 {
		ours = append(ours, fmt.Sprintf("Secret %s is missing or empty", n))
	}
	switch {
	case len(theirs) > 0:
		return &finding{v1alpha1.ReasonUsersACLError, some(theirs) + ". Create it with that key, which holds the password"}
	case x.initialized && slices.ContainsFunc(ours, func(text string) bool { return strings.Contains(text, "Secret "+name.SystemSecret(x.c.Name)+" ") }):
		return &finding{v1alpha1.ReasonSystemUsersACLError, some(ours) + ". Restore it from a backup of the Secret: running servers know the passwords that were in it, and what was generated is nowhere else"}
	case len(ours) > 0:
		return &finding{v1alpha1.ReasonSystemUsersACLError, some(ours) + ". The reconciler makes it"}
	}
	return nil
}

// missingCertificate says that the Secret of the certificate lacks something.
func (x *computation) missingCertificate() *finding {
	if x.o.Secrets == nil || !x.c.TLSEnabled() {
		return nil
	}
	n := x.c.TLSSecretName()
	live, there := x.o.Secrets[n]
	var keys []string
	for _, key := range []string{"ca.crt", "tls.crt", "tls.key"} {
		if !slices.Contains(live.Keys, key) {
			keys = append(keys, key)
		}
	}
	switch {
	case !there && x.c.Spec.TLS.IssuerRef != nil:
		return &finding{v1alpha1.ReasonSecretMissing, fmt.Sprintf("Secret %s is missing: cert-manager is to make it; see kubectl -n %s describe certificate %s",
			n, x.c.Namespace, name.Certificate(x.c.Name))}
	case !there:
		return &finding{v1alpha1.ReasonSecretMissing, fmt.Sprintf("Secret %s is missing: create it with ca.crt, tls.crt and tls.key", n)}
	case len(keys) > 0:
		return &finding{v1alpha1.ReasonSecretMissing, fmt.Sprintf("Secret %s has no key %s", n, strings.Join(keys, ", "))}
	}
	return nil
}
