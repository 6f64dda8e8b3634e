// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package secret

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/acl"
)

// TestNoPasswordIsEverReplacedOrShown: whatever the spec becomes, and whatever is lost
// meanwhile, a password of ours that is there stays, nothing but Secrets of ours is
// written, what is decided is final, and no error or key holds a password.
func TestNoPasswordIsEverReplacedOrShown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		topology := rapid.SampledFrom([]v1alpha1.Topology{v1alpha1.TopologyCluster, v1alpha1.TopologySentinel, v1alpha1.TopologyStandalone, v1alpha1.TopologyReplication}).Draw(t, "topology")
		live := map[string]*corev1.Secret{}
		for range rapid.IntRange(1, 6).Draw(t, "changes") {
			in := Input{Cluster: drawCluster(t, topology), Live: live, Random: random()}
			in.Rotation = rapid.SampledFrom([]Rotation{Keep, Keep, Begin, Finish, Forget}).Draw(t, "rotation")
			names, err := Names(in.Cluster, nil)
			if err != nil {
				t.Fatal(err)
			}
			drawUsers(t, live, names)
			lose(t, live)
			before := apply(live, nil)
			changes, err := Decide(in)
			for n := range live {
				if !bytes.Equal(dump(live[n]), dump(before[n])) {
					t.Fatalf("%s was changed in place", n)
				}
			}
			if err != nil {
				silent(t, live, err.Error())
				continue
			}
			live = apply(live, changes)
			silent(t, live, strings.Join(text(changes), "\n"))
			kept(t, in, before, live)
			in.Live, in.Random = live, nil
			if again, err := Decide(in); err != nil || len(again) > 0 {
				t.Fatalf("not final: %v, %v", text(again), err)
			}
		}
	})
}

func drawCluster(t *rapid.T, topology v1alpha1.Topology) *v1alpha1.ValkeyCluster {
	return newCluster(func(c *v1alpha1.ValkeyCluster) {
		c.Spec.Topology = topology
		switch rapid.IntRange(0, 2).Draw(t, "auth") {
		case 1:
			c.Spec.Auth = &v1alpha1.AuthSpec{Enabled: new(false)}
		case 2:
			c.Spec.Auth = &v1alpha1.AuthSpec{ExistingSecret: &v1alpha1.SecretKeyRef{Name: "mine"}}
		}
		if rapid.Bool().Draw(t, "tls") {
			c.Spec.TLS = &v1alpha1.TLSSpec{}
		}
		for _, n := range rapid.SliceOfDistinct(rapid.SampledFrom([]string{"app", "job", "web"}), rapid.ID[string]).Draw(t, "users") {
			c.Spec.Users = append(c.Spec.Users, v1alpha1.UserSpec{Name: n, Nopass: rapid.IntRange(0, 4).Draw(t, "nopass") == 0})
		}
	})
}

// drawUsers makes, or not, what the spec refers to.
func drawUsers(t *rapid.T, live map[string]*corev1.Secret, names []string) {
	for _, n := range names {
		if strings.HasPrefix(n, "cache-") && n != "cache-users" || live[n] != nil || rapid.IntRange(0, 3).Draw(t, "absent") == 0 {
			continue
		}
		live[n] = foreign(n, map[string]string{"password": "theirs-password", "app": "theirs-app", "job": "theirs-job", "web": ""})
		if rapid.Bool().Draw(t, "whole") {
			live[n].Data["web"] = []byte("theirs-web")
		}
	}
}

// lose takes a Secret or a key away, now and then.
func lose(t *rapid.T, live map[string]*corev1.Secret) {
	names := []string{"cache-auth", "cache-system", "cache-acl"}
	n := rapid.SampledFrom(append(names, "", "", "", "")).Draw(t, "loses")
	s := live[n]
	if s == nil {
		return
	}
	if rapid.Bool().Draw(t, "all") {
		delete(live, n)
		return
	}
	var keys []string
	for key := range s.Data {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	if len(keys) > 0 {
		delete(s.Data, rapid.SampledFrom(keys).Draw(t, "key"))
	}
}

func dump(s *corev1.Secret) []byte {
	if s == nil {
		return nil
	}
	data, _ := s.Marshal()
	return data
}

// silent fails when a text holds a value of a Secret.
func silent(t *rapid.T, live map[string]*corev1.Secret, said string) {
	for n, s := range live {
		for key, value := range s.Data {
			if len(value) > 0 && strings.Contains(said, string(value)) {
				t.Fatalf("%s key %s is shown: %s", n, key, said)
			}
		}
	}
}

// moved reports whether a step of a rotation is why a key has another value.
func moved(rotation Rotation, key string, before, after map[string][]byte) bool {
	stem := strings.TrimSuffix(key, acl.CurrentSuffix)
	next, previous := strings.HasSuffix(key, acl.NextSuffix), strings.HasSuffix(key, acl.PreviousSuffix)
	switch rotation {
	case Finish:
		became := before[stem+acl.NextSuffix]
		return next || previous || len(became) > 0 && bytes.Equal(after[key], became) && bytes.Equal(after[stem+acl.PreviousSuffix], before[key])
	case Forget:
		return previous
	}
	return false
}

// kept fails when a password was replaced, other than by the end of a rotation, or
// when something was written that is not ours.
func kept(t *rapid.T, in Input, before, after map[string]*corev1.Secret) {
	owned := Owned(in.Cluster)
	for n, s := range before {
		if !slices.Contains(owned, n) && !bytes.Equal(dump(s), dump(after[n])) {
			t.Fatalf("%s is not ours and was written", n)
		}
		if n == name.ACLSecret("cache") {
			continue
		}
		for key, value := range s.Data {
			got := after[n].Data[key]
			if len(value) > 0 && key != name.ExporterFile && !bytes.Equal(value, got) && !moved(in.Rotation, key, s.Data, after[n].Data) {
				t.Fatalf("%s key %s was replaced", n, key)
			}
		}
	}
	for _, text := range after[name.ACLSecret("cache")].Data {
		for _, s := range after {
			for key, value := range s.Data {
				if s.Name != name.ACLSecret("cache") && len(value) > 0 && bytes.Contains(text, value) {
					t.Fatalf("an ACL file holds the password %s", key)
				}
			}
		}
	}
}
