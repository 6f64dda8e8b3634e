// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package secret

import (
	"bytes"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
)

// draft is a Secret of ours on its way to what it should be.
type draft struct {
	secret *corev1.Secret
	keys   []string
	// meta says that labels or annotations were missing.
	meta bool
}

// draftAll begins a draft for every Secret of ours, from what exists. One that is
// not ours is a problem.
func draftAll(in Input, found *problems) map[string]*draft {
	c := in.Cluster
	drafts := map[string]*draft{}
	for _, owned := range Owned(c) {
		live := in.Live[owned]
		if live == nil {
			live = &corev1.Secret{
				TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
				ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: owned},
				Type:       corev1.SecretTypeOpaque,
			}
		} else if !isOurs(c, live) {
			hint := "rename or delete it"
			if owned == name.AuthSecret(c.Name) {
				hint += ", or name it in spec.auth.existingSecret"
			}
			found.add(Foreign, owned, "exists and its labels do not say that it is ours: %s", hint)
		}
		d := &draft{secret: live.DeepCopy()}
		if d.secret.Data == nil {
			d.secret.Data = map[string][]byte{}
		}
		d.describe(c)
		drafts[owned] = d
	}
	return drafts
}

func isOurs(c *v1alpha1.ValkeyCluster, s *corev1.Secret) bool {
	return s.Labels[name.LabelCluster] == c.Name && s.Labels[name.LabelManagedBy] == name.PartOf
}

// describe gives the Secret the labels and annotations that it lacks. Argo CD takes
// any object with its label, which is the instance label of old, for one that Git no
// longer has; nothing that prunes may take passwords away.
func (d *draft) describe(c *v1alpha1.ValkeyCluster) {
	lack := func(have *map[string]string, want map[string]string) {
		for key, value := range want {
			if (*have)[key] == value {
				continue
			}
			if *have == nil {
				*have = map[string]string{}
			}
			(*have)[key] = value
			d.meta = true
		}
	}
	lack(&d.secret.Labels, name.Labels(c.Name, name.ComponentCluster))
	lack(&d.secret.Annotations, map[string]string{
		"argocd.argoproj.io/compare-options": "IgnoreExtraneous",
		"argocd.argoproj.io/sync-options":    "Prune=false,Delete=false",
		"kustomize.toolkit.fluxcd.io/prune":  "disabled",
		"helm.sh/resource-policy":            "keep",
	})
}

func (d *draft) set(key string, value []byte) {
	if have, there := d.secret.Data[key]; there && bytes.Equal(have, value) {
		return
	}
	d.secret.Data[key] = value
	d.touched(key)
}

func (d *draft) drop(key string) {
	if _, there := d.secret.Data[key]; there {
		delete(d.secret.Data, key)
		d.touched(key)
	}
}

func (d *draft) touched(key string) {
	if !slices.Contains(d.keys, key) {
		d.keys = append(d.keys, key)
	}
}

func (d *draft) change() (Change, bool) {
	slices.Sort(d.keys)
	return Change{Secret: d.secret, Keys: d.keys}, d.meta || len(d.keys) > 0
}
