// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/directive"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/job"
	"github.com/valkey-render/valkey-render/topologyjob/status"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// settingKinds are the Jobs that set something on servers that run, in the order in which
// they are started.
func settingKinds() []string { return []string{job.ACL, job.LiveConfig, job.TLS} }

// sets is the kind of Job that sets the same: one that rotates passwords sets users too.
func sets(kind string) string {
	if kind == job.Rotate {
		return job.ACL
	}
	return kind
}

// applied is what every server was given, as the status has it and Jobs have ended since.
func (in Input) applied() []v1alpha1.AppliedStatus {
	list := slices.Clone(in.Cluster.Status.Applied)
	for _, r := range in.Jobs {
		if r.Token == "" || !r.Over() || r.Failed {
			continue
		}
		kind := sets(r.Kind)
		i := slices.IndexFunc(list, func(a v1alpha1.AppliedStatus) bool { return a.Kind == kind })
		if i < 0 {
			list = append(list, v1alpha1.AppliedStatus{Kind: kind, Token: r.Token})
		} else {
			list[i].Token = r.Token
		}
	}
	for _, kind := range settingKinds() {
		token := in.Tokens[kind]
		if token != "" && !slices.ContainsFunc(list, func(a v1alpha1.AppliedStatus) bool { return a.Kind == kind }) {
			list = append(list, v1alpha1.AppliedStatus{Kind: kind, Started: token})
		}
	}
	return list
}

// was is what was applied of a kind, "" for nothing yet.
func (d *Decision) was(kind string) string {
	for _, a := range d.Applied {
		if a.Kind == kind {
			return a.Token
		}
	}
	return ""
}

// changed is whether servers have not been given what is wanted of a kind now, neither by a
// Job nor by starting with it.
func (in Input) changed(d *Decision, kind string) bool {
	i := slices.IndexFunc(d.Applied, func(a v1alpha1.AppliedStatus) bool { return a.Kind == kind })
	return i >= 0 && in.Tokens[kind] != cmp.Or(d.Applied[i].Token, d.Applied[i].Started)
}

// settings starts the Job of the first kind that has something else to set than was
// applied, beside one that changes the topology. Pods that start read everything by
// themselves, so nothing is due before the servers are formed.
func (in Input) settings(d *Decision) {
	if !in.Cluster.Status.ClusterInitialized || in.Seen.View == nil {
		return
	}
	rotation, rotates, rotate := in.rotating()
	changed := rotate
	var due string
	for _, kind := range settingKinds() {
		token := in.Tokens[kind]
		if token == "" || d.was(kind) == token && (kind != job.ACL || !rotate) {
			continue
		}
		changed = changed || in.changed(d, kind)
		if due == "" {
			due = kind
		}
	}
	if due == "" {
		return
	}
	if changed {
		in.refresh(d)
		d.Next.Work = append(d.Next.Work, status.WorkSet)
	}
	if in.setsNow(d) {
		return
	}
	o := in.setting(due)
	if due == job.ACL && rotates {
		if in.Passwords.Silent > 0 {
			// One of them may know no password but an old one.
			d.wait(5*time.Second, "rotate-password: %d pods do not tell which passwords they take", in.Passwords.Silent)
			return
		}
		o = in.rotate(o, rotation)
	}
	if spent := in.create(d, o); spent != nil {
		d.Next.Waiting = append(d.Next.Waiting, spentMessage(spent))
	}
}

// setsNow reports whether a Job sets something already: one at a time does.
func (in Input) setsNow(d *Decision) bool {
	r := in.acting(setter)
	if r == nil {
		return in.yields(d, setter)
	}
	if gone := in.gone(r.Pods); gone != "" && !r.Over() && !r.Leaving {
		// It would wait for that pod until its deadline.
		d.stop(r)
		d.wait(time.Second, "Job %s, which waits for pod %s, gives way to another", r.Name, gone)
		return true
	}
	d.wait(5*time.Second, "Job %s works", r.Name)
	return true
}

// staying are the pods of data that their StatefulSets want: those with higher ordinals go,
// or are gone.
func (in Input) staying() []survey.Pod {
	return slices.DeleteFunc(slices.Clone(in.Asked), func(p survey.Pod) bool {
		set := in.set(p.Shard)
		return set == nil || p.Index >= set.Replicas
	})
}

// gone is the first pod of a list whose server ran and that does not stay as it was: it goes,
// or another one has its name, at another address. "" for none.
func (in Input) gone(pods []job.Told) string {
	there := append(in.staying(), in.Sentinels...)
	i := slices.IndexFunc(pods, func(told job.Told) bool {
		return !told.Stopped && !slices.ContainsFunc(there, func(p survey.Pod) bool {
			return p.Name == told.Name && (told.UID == "" || p.UID == told.UID)
		})
	})
	if i < 0 {
		return ""
	}
	return pods[i].Name
}

// setting is the Job that sets what is wanted of a kind.
func (in Input) setting(kind string) job.Order {
	c := in.Cluster
	domain := name.ServiceFQDN(name.Nodes(c.Name), c.Namespace, c.ClusterDomain())
	return job.Order{
		Kind: kind, Why: "servers are to have what is in version " + in.Tokens[kind], Token: in.Tokens[kind],
		Args: job.Setting(c.Port(), domain, in.staying(), in.Sentinels), Epoch: c.Annotations[v1alpha1.AnnotationRetry],
	}
}

// rotate makes of a Job that sets users one that does a step of a rotation as well.
func (in Input) rotate(o job.Order, a v1alpha1.ActionStatus) job.Order {
	o.Kind, o.Why = job.Rotate, "passwords are rotated: "+string(in.Passwords.Stage)
	o.Epoch += "/" + string(in.Passwords.Stage)
	if in.asRotation(a).ClientKill {
		o.Args = append(o.Args, "--client-kill")
	}
	return o
}

// refresh brings the volumes of all pods up to date, once for everything that is wanted now.
func (in Input) refresh(d *Decision) {
	h := sha256.New()
	for _, kind := range settingKinds() {
		fmt.Fprintf(h, "%s=%s;", kind, in.Tokens[kind])
	}
	token := hex.EncodeToString(h.Sum(nil))[:16]
	for _, p := range in.Seen.Pods {
		if !p.Deleting && in.Refreshed[p.Name] != token {
			d.Refresh = append(d.Refresh, Refresh{Pod: p.Name, UID: string(p.UID), Token: token})
		}
	}
}

// last is the Job of a kind that was started last for what is wanted now, nil for none.
func (in Input) last(kind string) *job.Record {
	for i := len(in.Jobs) - 1; i >= 0; i-- {
		if r := &in.Jobs[i]; sets(r.Kind) == kind && r.Token == in.Tokens[kind] {
			return r
		}
	}
	return nil
}

// rejected is what servers said to the live directives that are wanted, "" when they took
// them or were not asked.
func (in Input) rejected() string {
	r := in.last(job.LiveConfig)
	if r != nil && r.Failed && r.Outcome != nil && r.Outcome.Reason == reasonRejected {
		return r.Outcome.Message
	}
	return ""
}

// reasonRejected is the reason of a liveconfig Job whose directives a server refused.
const reasonRejected = "LiveConfigRejected"

// Settings is what is known of what was set on servers, by pod.
func Settings(in Input) map[string]status.Settings {
	if in.Invalid != "" {
		return nil
	}
	d := Decision{Applied: in.applied()}
	known := map[string]*status.Setting{}
	for _, kind := range settingKinds() {
		token := in.Tokens[kind]
		if token == "" {
			continue
		}
		s := &status.Setting{Reason: v1alpha1.ReasonPending}
		switch r := in.last(kind); {
		case d.was(kind) == token:
			s.Reason = v1alpha1.ReasonApplied
		case r != nil && r.Over() && r.Failed:
			s.Reason, s.Message = v1alpha1.ReasonApplyFailed, said(*r)
		}
		known[kind] = s
	}
	if !hasLive(in.Cluster) {
		delete(known, job.LiveConfig)
	}
	list := map[string]status.Settings{}
	for _, p := range in.Seen.Pods {
		list[p.Name] = status.Settings{LiveConfig: known[job.LiveConfig], ACL: known[job.ACL], TLS: known[job.TLS]}
	}
	return list
}

// hasLive reports whether the spec has directives that apply live.
func hasLive(c *v1alpha1.ValkeyCluster) bool {
	for given := range c.Spec.Config {
		if d, found := directive.Lookup(c.ServerVersion(), given); found && d.Class == directive.Live {
			return true
		}
	}
	return false
}
