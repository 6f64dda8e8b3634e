// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package credential

import (
	"crypto/rand"
	"fmt"
	"maps"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/script"
	"github.com/valkey-render/valkey-render/topologyjob/acl"
	"github.com/valkey-render/valkey-render/topologyjob/secret"
)

// Secrets are those of one namespace by name.
type Secrets map[string]*corev1.Secret

// Input of Complete.
type Input struct {
	// Cluster has its defaults.
	Cluster *v1alpha1.ValkeyCluster
	ACLs    []*v1alpha1.ValkeyACL
	// Have are the Secrets that there are. None is changed in place.
	Have Secrets
	// Names and Addresses are what a certificate must be valid for.
	Names     []string
	Addresses []netip.Addr
}

// Complete returns all Secrets that a cluster needs. What exists is kept, but for a
// certificate that was made up for other addresses than there are now; made names
// the Secrets that somebody else would have to make on Kubernetes, and that were made
// up here, sorted.
func Complete(in Input) (all Secrets, made []string, err error) {
	c := in.Cluster
	all = Secrets{}
	for name, s := range in.Have {
		all[name] = s.DeepCopy()
	}
	madeUp := map[string]bool{}
	users, err := acl.Merge(c, in.ACLs)
	if err != nil {
		return nil, nil, fmt.Errorf("%s %s/%s: %w", v1alpha1.KindCluster, c.Namespace, c.Name, err)
	}
	for _, ref := range acl.Needs(c, users) {
		if slices.Contains(secret.Owned(c), ref.Secret) || len(all.of(c, ref.Secret).Data[ref.Key]) > 0 {
			continue
		}
		all[ref.Secret].Data[ref.Key] = []byte(rand.Text())
		madeUp[ref.Secret] = true
	}
	if tls := c.TLSSecretName(); tls != "" && (len(all.of(c, tls).Data) == 0 || elsewhere(all[tls].Data[script.TLSCert], in.Addresses)) {
		if all[tls].Data, err = issue(in.Names, in.Addresses); err != nil {
			return nil, nil, fmt.Errorf("certificate for Secret %s/%s: %w", c.Namespace, tls, err)
		}
		madeUp[tls] = true
	}
	changes, err := secret.Decide(secret.Input{Cluster: c, ACLs: in.ACLs, Live: all, Random: rand.Reader})
	if err != nil {
		return nil, nil, fmt.Errorf("%s %s/%s: %w", v1alpha1.KindCluster, c.Namespace, c.Name, err)
	}
	for _, change := range changes {
		all[change.Secret.Name] = change.Secret
	}
	return all, slices.Sorted(maps.Keys(madeUp)), nil
}

// of is a Secret, made empty when it does not exist.
func (s Secrets) of(c *v1alpha1.ValkeyCluster, name string) *corev1.Secret {
	found := s[name]
	if found == nil {
		found = &corev1.Secret{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
			ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: name},
			Type:       corev1.SecretTypeOpaque,
		}
		s[name] = found
	}
	if found.Data == nil {
		found.Data = map[string][]byte{}
	}
	return found
}
