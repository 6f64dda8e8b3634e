// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package secret

import (
	"fmt"
	"io"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/acl"
	"github.com/valkey-render/valkey-render/topologyjob/setting"
)

// Rotation is a step of replacing the passwords that are made here: those of the system
// users, and of the default user unless its Secret is the user's. Package setting says
// when which one is due.
type Rotation int

const (
	// Keep changes no password.
	Keep Rotation = iota
	// Begin makes a next password beside the current one. Both are valid from then on.
	// Where there is one already, or a previous one, nothing changes.
	Begin
	// Finish makes the next password the current one, and the current one the previous
	// one. Both stay valid. Where there is no next one, nothing changes.
	Finish
	// Forget drops the previous password, which is valid no more.
	Forget
)

// Due is the step that is to be written at a stage of a rotation that was begun, before
// any Job. Where it was written in part only, this is the rest of it. Forget waits until
// clients have followed.
func Due(stage setting.Stage) Rotation {
	switch stage {
	case setting.Accepting:
		return Begin
	case setting.Accepted, setting.Switching:
		return Finish
	case setting.Switched:
		return Forget
	}
	return Keep
}

// Input is everything that decides what is in the Secrets of a cluster.
type Input struct {
	// Cluster has its defaults. Its namespace is that of all Secrets.
	Cluster *v1alpha1.ValkeyCluster
	// ACLs of other clusters are left out.
	ACLs []*v1alpha1.ValkeyACL
	// Live are the Secrets that exist, by name: all of those that Names lists.
	Live map[string]*corev1.Secret
	// Rotation of the passwords.
	Rotation Rotation
	// Overlap keeps passwords of the default user valid that the ACL file knows and its
	// Secret has no more: somebody has replaced the one in it, and clients follow.
	Overlap bool
	// Random is where passwords come from.
	Random io.Reader
}

// Change is one Secret to write.
type Change struct {
	// Secret as it is to be. One that exists has its resourceVersion, and is to be
	// written only while that is still so.
	Secret *corev1.Secret
	// Keys that are new or have another value, sorted; keys that go are among them.
	Keys []string
}

// Creates reports whether the Secret does not exist yet.
func (c Change) Creates() bool { return c.Secret.ResourceVersion == "" }

// Owned are the names of the Secrets that Decide may write, in the order in which
// they are to be written: an ACL file never knows a password that could get lost.
func Owned(c *v1alpha1.ValkeyCluster) []string {
	var names []string
	if generates(c) {
		names = append(names, name.AuthSecret(c.Name))
	}
	return append(names, name.SystemSecret(c.Name), name.ACLSecret(c.Name))
}

// Names are the Secrets that Decide looks at: those that it may write, then those
// that the spec refers to, sorted. An error is a user that is defined twice.
func Names(c *v1alpha1.ValkeyCluster, acls []*v1alpha1.ValkeyACL) ([]string, error) {
	users, err := acl.Merge(c, acls)
	if err != nil {
		return nil, usersError(c, err)
	}
	owned := Owned(c)
	var others []string
	for _, ref := range acl.Needs(c, users) {
		if !slices.Contains(owned, ref.Secret) && !slices.Contains(others, ref.Secret) {
			others = append(others, ref.Secret)
		}
	}
	slices.Sort(others)
	return append(owned, others...), nil
}

// generates says whether the default user's password is made here.
func generates(c *v1alpha1.ValkeyCluster) bool {
	return c.AuthEnabled() && (c.Spec.Auth == nil || c.Spec.Auth.ExistingSecret == nil)
}

// Decide returns the Secrets to write, in the order in which to write them; none
// when all is as it should be. The error is a *BlockedError with everything that
// only somebody else can put right, or says what is wrong with the users.
func Decide(in Input) ([]Change, error) {
	c := in.Cluster
	users, err := acl.Merge(c, in.ACLs)
	if err != nil {
		return nil, usersError(c, err)
	}
	found := &problems{namespace: c.Namespace}
	drafts := draftAll(in, found)
	references(in, users, found)
	lost(in, drafts, found)
	if err := found.err(c); err != nil {
		return nil, err
	}
	if err := passwords(in, drafts); err != nil {
		return nil, err
	}
	view := merged(in.Live, drafts)
	if err := files(in, view, drafts[name.ACLSecret(c.Name)]); err != nil {
		return nil, usersError(c, err)
	}
	var changes []Change
	for _, owned := range Owned(c) {
		if change, due := drafts[owned].change(); due {
			changes = append(changes, change)
		}
	}
	return changes, nil
}

// references finds what the spec refers to and is not there, all of it.
func references(in Input, users []v1alpha1.UserSpec, found *problems) {
	owned := Owned(in.Cluster)
	for _, ref := range acl.Needs(in.Cluster, users) {
		if slices.Contains(owned, ref.Secret) {
			continue
		}
		live := in.Live[ref.Secret]
		if live == nil {
			found.add(Missing, ref.Secret, "does not exist")
			continue
		}
		switch value, there := live.Data[ref.Key]; {
		case !there:
			found.add(Missing, ref.Secret, "has no key %s", ref.Key)
		case len(value) == 0:
			found.add(Missing, ref.Secret, "key %s: is empty", ref.Key)
		}
	}
}

// files puts the ACL file of every version into the draft: one version's pods may
// still run when those of the next start.
func files(in Input, view acl.Secrets, d *draft) error {
	c := in.Cluster
	input, err := acl.Resolve(c, in.ACLs, view)
	if err != nil {
		return err
	}
	if in.Overlap && !input.Open {
		for _, hash := range hashes(in.Live[name.ACLSecret(c.Name)], acl.DefaultUser) {
			if !slices.Contains(input.Hashes[acl.DefaultUser], hash) {
				input.Hashes[acl.DefaultUser] = append(input.Hashes[acl.DefaultUser], hash)
			}
		}
	}
	for _, version := range v1alpha1.Versions() {
		text, err := acl.Text(version, input)
		if err != nil {
			return fmt.Errorf("ACL file of %s: %w", version, err)
		}
		d.set(acl.FileKey(version), []byte(text))
		if !c.IsSentinel() {
			continue
		}
		if text, err = acl.SentinelText(version, input); err != nil {
			return fmt.Errorf("ACL file of sentinels of %s: %w", version, err)
		}
		d.set(acl.SentinelFileKey(version), []byte(text))
	}
	return nil
}

// merged is what the Secrets hold once the drafts are written.
func merged(live map[string]*corev1.Secret, drafts map[string]*draft) acl.Secrets {
	view := acl.Secrets{}
	for n, s := range live {
		if s != nil {
			view[n] = s.Data
		}
	}
	for n, d := range drafts {
		view[n] = d.secret.Data
	}
	return view
}
