// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package secret

import (
	"encoding/base32"
	"fmt"
	"io"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/acl"
	"github.com/valkey-render/valkey-render/topologyjob/setting"
)

// entropy is how many random bytes are in a password: 256 bits.
const entropy = 32

// newPassword makes a password of letters and digits, which nothing that quotes,
// splits or parses can take for anything else.
func newPassword(random io.Reader) ([]byte, error) {
	raw := make([]byte, entropy)
	if _, err := io.ReadFull(random, raw); err != nil {
		return nil, fmt.Errorf("password: no randomness: %w", err)
	}
	text := base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(raw)
	return []byte(strings.ToLower(text)), nil
}

// lost finds the system users whose password is gone though an ACL file, and so the
// servers that read it, know one.
func lost(in Input, drafts map[string]*draft, found *problems) {
	system, files := drafts[name.SystemSecret(in.Cluster.Name)].secret, name.ACLSecret(in.Cluster.Name)
	var keys []string
	for _, key := range acl.SystemKeys() {
		user, isPassword := strings.CutSuffix(key, acl.CurrentSuffix)
		if isPassword && len(system.Data[key]) == 0 && known(in.Live[files], user) {
			keys = append(keys, key)
		}
	}
	if len(keys) > 0 {
		found.add(Lost, system.Name, "%s: gone, and running servers know no other password: bring the Secret back; or delete Secret %s too, which has new ones made, and restart every pod",
			strings.Join(keys, ", "), files)
	}
}

// passwords fills in what is missing of the passwords that are made here, and what
// is made of them.
func passwords(in Input, drafts map[string]*draft) error {
	c := in.Cluster
	if d, ours := drafts[name.AuthSecret(c.Name)]; ours {
		if err := d.fill(v1alpha1.PasswordKey, in.Random); err != nil {
			return err
		}
		if err := d.rotate(v1alpha1.PasswordKey, v1alpha1.PasswordKey, in.Rotation, in.Random); err != nil {
			return err
		}
	}
	d := drafts[name.SystemSecret(c.Name)]
	for _, key := range acl.SystemKeys() {
		user, isPassword := strings.CutSuffix(key, acl.CurrentSuffix)
		if !isPassword {
			continue
		}
		if err := d.fill(key, in.Random); err != nil {
			return err
		}
		if err := d.rotate(user, key, in.Rotation, in.Random); err != nil {
			return err
		}
	}
	file, err := acl.ExporterJSON(c, string(d.secret.Data[name.UserExporter+acl.CurrentSuffix]))
	if err != nil {
		return err
	}
	d.set(name.ExporterFile, file)
	return nil
}

// fill makes a password where there is none. An empty one never was a password: no
// ACL file was ever written with it.
func (d *draft) fill(key string, random io.Reader) error {
	if len(d.secret.Data[key]) > 0 {
		return nil
	}
	made, err := newPassword(random)
	if err != nil {
		return err
	}
	d.set(key, made)
	return nil
}

// rotate does a step for the password of one key; beside it are the keys that begin with
// stem.
func (d *draft) rotate(stem, current string, step Rotation, random io.Reader) error {
	next, previous := stem+acl.NextSuffix, stem+acl.PreviousSuffix
	switch step {
	case Begin:
		if len(d.secret.Data[previous]) > 0 {
			return nil
		}
		return d.fill(next, random)
	case Finish:
		if made := d.secret.Data[next]; len(made) > 0 {
			d.set(previous, d.secret.Data[current])
			d.set(current, made)
		}
		d.drop(next)
	case Forget:
		d.drop(previous)
	}
	return nil
}

// Held are the passwords that a rotation replaces, as hashes.
func Held(c *v1alpha1.ValkeyCluster, live map[string]*corev1.Secret) map[string]setting.Held {
	var system, auth map[string][]byte
	if s := live[name.SystemSecret(c.Name)]; s != nil {
		system = s.Data
	}
	if s := live[name.AuthSecret(c.Name)]; s != nil && generates(c) {
		auth = s.Data
	}
	return setting.HeldBy(system, auth, v1alpha1.PasswordKey)
}

// Replaced reports whether the ACL file knows a password of the default user that its Secret
// has no more: servers may take it still.
func Replaced(c *v1alpha1.ValkeyCluster, live map[string]*corev1.Secret) bool {
	if !c.AuthEnabled() {
		return false
	}
	ref := c.AuthSecret()
	s := live[ref.Name]
	if s == nil {
		return false
	}
	h := setting.HeldBy(nil, s.Data, ref.Key)[acl.DefaultUser]
	return slices.ContainsFunc(hashes(live[name.ACLSecret(c.Name)], acl.DefaultUser), func(hash string) bool {
		return hash != h.Current && hash != h.Next && hash != h.Previous
	})
}

// known reports whether an ACL file has a password of a user.
func known(files *corev1.Secret, user string) bool { return len(hashes(files, user)) > 0 }

// hashes are those of a user's passwords that an ACL file has, sorted.
func hashes(files *corev1.Secret, user string) []string {
	if files == nil {
		return nil
	}
	var found []string
	for _, text := range files.Data {
		for line := range strings.Lines(string(text)) {
			words := strings.Fields(line)
			if len(words) < 2 || words[0] != "user" || words[1] != user {
				continue
			}
			for _, rule := range words[2:] {
				if hash, is := strings.CutPrefix(rule, "#"); is {
					found = append(found, hash)
				}
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}
