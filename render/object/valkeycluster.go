// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package object

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
)

// clusterObject is the ValkeyCluster as it is applied. Whoever renders is the one
// who delivers, so delivery is GitOps whatever the input says.
func clusterObject(c *v1alpha1.ValkeyCluster) *v1alpha1.ValkeyCluster {
	out := v1alpha1.ValkeyCluster{TypeMeta: typeMeta(v1alpha1.KindCluster), ObjectMeta: ownMeta(c.Name, c.ObjectMeta), Spec: c.Spec}
	out.Spec.Delivery = v1alpha1.DeliveryGitOps
	return &out
}

// aclObject is a ValkeyACL as it is applied.
func aclObject(a *v1alpha1.ValkeyACL) *v1alpha1.ValkeyACL {
	return &v1alpha1.ValkeyACL{TypeMeta: typeMeta(v1alpha1.KindACL), ObjectMeta: ownMeta(a.Spec.ClusterRef.Name, a.ObjectMeta), Spec: a.Spec}
}

func typeMeta(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion().String(), Kind: kind}
}

// ownMeta keeps of an input object's metadata what its author writes. What a
// server or a tool has added would be refused (uid, resourceVersion) or is about
// another file.
func ownMeta(cluster string, in metav1.ObjectMeta) metav1.ObjectMeta {
	out := metav1.ObjectMeta{Name: in.Name, Namespace: in.Namespace, Labels: name.Labels(cluster, name.ComponentCluster), Annotations: verbatim()}
	for k, v := range in.Labels {
		if _, ours := out.Labels[k]; !ours {
			out.Labels[k] = v
		}
	}
	for k, v := range in.Annotations {
		if _, ours := out.Annotations[k]; !ours && !leftByTool(k) {
			out.Annotations[k] = v
		}
	}
	return out
}

// leftByTool reports whether an annotation was written by kubectl, a KRM function
// or an earlier render, rather than by a person.
func leftByTool(key string) bool {
	return key == "kubectl.kubernetes.io/last-applied-configuration" ||
		slices.Contains(v1alpha1.HashAnnotations(), key) ||
		strings.HasPrefix(key, "config.kubernetes.io/") ||
		strings.HasPrefix(key, "internal.config.kubernetes.io/")
}
