// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package acl

import (
	"errors"
	"fmt"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
)

// Secrets are the data of Secrets of the cluster's namespace, by name and key.
type Secrets map[string]map[string][]byte

// Ref is one key of a Secret.
type Ref struct{ Secret, Key string }

// Merge returns the users of the cluster and of its ValkeyACLs. A name that is in
// two of them is an error that says where; ValkeyACLs of other clusters are left
// out.
func Merge(c *v1alpha1.ValkeyCluster, acls []*v1alpha1.ValkeyACL) ([]v1alpha1.UserSpec, error) {
	var (
		users    []v1alpha1.UserSpec
		problems []error
	)
	from := map[string]string{}
	add := func(source string, more []v1alpha1.UserSpec) {
		for _, u := range more {
			if first, taken := from[u.Name]; taken {
				problems = append(problems, fmt.Errorf("user %q: in %s and in %s", u.Name, first, source))
				continue
			}
			from[u.Name] = source
			users = append(users, u)
		}
	}
	add("spec.users of ValkeyCluster "+c.Name, c.Spec.Users)
	for _, a := range acls {
		if a.Namespace == c.Namespace && a.Spec.ClusterRef.Name == c.Name {
			add("ValkeyACL "+a.Name, a.Spec.Users)
		}
	}
	return users, errors.Join(problems...)
}

// Needs are the keys of Secrets that Resolve reads for these users, those of
// users without a password and of disabled ones left out. Next and previous
// passwords of the default user and of system users are read when they are there.
func Needs(c *v1alpha1.ValkeyCluster, users []v1alpha1.UserSpec) []Ref {
	var refs []Ref
	for _, w := range wanted(c, users) {
		refs = append(refs, w.refs...)
	}
	return refs
}

// want is where the passwords of one user are.
type want struct {
	user string
	refs []Ref
	// more may be missing.
	more []Ref
}

// beside are the keys of a rotation beside the one that is always there.
func beside(secret, key string) []Ref {
	return []Ref{{secret, key + NextSuffix}, {secret, key + PreviousSuffix}}
}

func wanted(c *v1alpha1.ValkeyCluster, users []v1alpha1.UserSpec) []want {
	var wants []want
	if c.AuthEnabled() {
		ref := c.AuthSecret()
		wants = append(wants, want{user: DefaultUser, refs: []Ref{{ref.Name, ref.Key}}, more: beside(ref.Name, ref.Key)})
	}
	system := name.SystemSecret(c.Name)
	for _, user := range SystemUsers(c.EffectiveTopology()) {
		wants = append(wants, want{
			user: user,
			refs: []Ref{{system, user + CurrentSuffix}},
			more: beside(system, user),
		})
	}
	for _, u := range users {
		secret := u.Password(c.Name)
		if secret == nil || !u.IsEnabled() {
			continue
		}
		w := want{user: u.Name}
		for _, key := range secret.Keys {
			w.refs = append(w.refs, Ref{secret.Name, key})
		}
		wants = append(wants, w)
	}
	return wants
}

// Resolve makes the Input of a cluster from its ValkeyACLs and the Secrets that
// Needs names. Every conflict and every missing or empty password is in the
// error, by Secret and key, never with a value.
func Resolve(c *v1alpha1.ValkeyCluster, acls []*v1alpha1.ValkeyACL, secrets Secrets) (Input, error) {
	users, err := Merge(c, acls)
	problems := []error{err}
	in := Input{
		Topology: c.EffectiveTopology(),
		Open:     !c.AuthEnabled(),
		Users:    users,
		Hashes:   map[string][]string{},
		Modules:  len(c.Spec.Modules) > 0,
	}
	for _, w := range wanted(c, users) {
		refs := w.refs
		for _, ref := range w.more {
			if secrets.has(ref) {
				refs = append(refs, ref)
			}
		}
		for _, ref := range refs {
			hash, err := secrets.hash(ref)
			if err != nil {
				problems = append(problems, fmt.Errorf("user %s: %w", w.user, err))
				continue
			}
			in.Hashes[w.user] = append(in.Hashes[w.user], hash)
		}
	}
	if err := errors.Join(problems...); err != nil {
		return Input{}, err
	}
	return in, nil
}

func (s Secrets) has(ref Ref) bool {
	_, found := s[ref.Secret][ref.Key]
	return found
}

func (s Secrets) hash(ref Ref) (string, error) {
	data, found := s[ref.Secret]
	if !found {
		return "", fmt.Errorf("secret %s is missing", ref.Secret)
	}
	password, found := data[ref.Key]
	if !found {
		return "", fmt.Errorf("secret %s has no key %s", ref.Secret, ref.Key)
	}
	hash, err := Hash(password)
	if err != nil {
		return "", fmt.Errorf("secret %s key %s: %w", ref.Secret, ref.Key, err)
	}
	return hash, nil
}
