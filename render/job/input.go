// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"bytes"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
)

// secretsInput is what the secrets Job reads: of the cluster only what decides what
// is in its Secrets, so that no other change starts a Job.
func secretsInput(c *v1alpha1.ValkeyCluster, acls []*v1alpha1.ValkeyACL) (string, error) {
	spec := v1alpha1.ValkeyClusterSpec{
		Topology: c.EffectiveTopology(),
		Auth:     c.Spec.Auth,
		Users:    c.Spec.Users,
		Modules:  c.Spec.Modules,
	}
	if c.Spec.Networking != nil && c.Spec.Networking.Port != nil {
		spec.Networking = &v1alpha1.NetworkingSpec{Port: c.Spec.Networking.Port}
	}
	if c.TLSEnabled() {
		spec.TLS = &v1alpha1.TLSSpec{}
	}
	objects := []any{document(c, spec)}
	for _, a := range ofCluster(c, acls) {
		objects = append(objects, &v1alpha1.ValkeyACL{
			TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion().String(), Kind: v1alpha1.KindACL},
			ObjectMeta: metav1.ObjectMeta{Name: a.Name, Namespace: a.Namespace}, Spec: a.Spec,
		})
	}
	return documents(objects...)
}

// ConvergeInput is what the converge Job reads: everything that says how the cluster
// should be, and what it may do about it. A pod template that changes is followed by
// a look at the cluster, so only what is about others is left out.
func ConvergeInput(c *v1alpha1.ValkeyCluster) (string, error) {
	spec := *c.Spec.DeepCopy()
	spec.Users, spec.Patches, spec.JobsTemplate = nil, nil, nil
	spec.Metrics, spec.NetworkPolicy, spec.PodDisruptionBudget = nil, nil, nil
	spec.DeletionPolicy = ""
	return documents(document(c, spec))
}

// ApplyInput is what the apply Job reads: the cluster with its ValkeyACLs, as a whole.
func ApplyInput(c *v1alpha1.ValkeyCluster, acls []*v1alpha1.ValkeyACL) (string, error) {
	objects := []any{document(c, c.Spec)}
	for _, a := range ofCluster(c, acls) {
		objects = append(objects, &v1alpha1.ValkeyACL{
			TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion().String(), Kind: v1alpha1.KindACL},
			ObjectMeta: metav1.ObjectMeta{Name: a.Name, Namespace: a.Namespace}, Spec: a.Spec,
		})
	}
	return documents(objects...)
}

func document(c *v1alpha1.ValkeyCluster, spec v1alpha1.ValkeyClusterSpec) *v1alpha1.ValkeyCluster {
	d := &v1alpha1.ValkeyCluster{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion().String(), Kind: v1alpha1.KindCluster},
		ObjectMeta: metav1.ObjectMeta{Name: c.Name, Namespace: c.Namespace}, Spec: spec,
	}
	if token, asked := c.Annotations[v1alpha1.AnnotationRetry]; asked {
		d.Annotations = map[string]string{v1alpha1.AnnotationRetry: token}
	}
	return d
}

func documents(objects ...any) (string, error) {
	var b bytes.Buffer
	for i, o := range objects {
		data, err := yaml.Marshal(o)
		if err != nil {
			return "", fmt.Errorf("input of a Job: %w", err)
		}
		if i > 0 {
			b.WriteString("---\n")
		}
		b.Write(data)
	}
	return b.String(), nil
}
