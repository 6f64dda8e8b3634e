// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

//go:build cluster

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/acl"
)

// secrets makes what the pods of a spec wait for: certificates and passwords that somebody
// else has, and, by valkey-topology, all other Secrets of the clusters.
func (p *place) secrets(spec []string) {
	p.Helper()
	var clusters []*v1alpha1.ValkeyCluster
	var acls []*v1alpha1.ValkeyACL
	var text []byte
	for _, o := range p.rendered(spec) {
		if input, ok, _ := unstructured.NestedString(o.Object, "spec", "template", "metadata", "annotations", v1alpha1.AnnotationSpec); ok && o.GetKind() == "Job" {
			c := &v1alpha1.ValkeyCluster{}
			if err := yaml.Unmarshal([]byte(input), c); err != nil {
				p.Fatal(err)
			}
			p.given(c, nil)
			continue
		}
		switch o.GetKind() {
		case v1alpha1.KindCluster:
			clusters = append(clusters, convert(p, o, &v1alpha1.ValkeyCluster{}))
		case v1alpha1.KindACL:
			acls = append(acls, convert(p, o, &v1alpha1.ValkeyACL{}))
		default:
			continue
		}
		data, err := json.Marshal(o.Object)
		if err != nil {
			p.Fatal(err)
		}
		text = append(append(append(text, "---\n"...), data...), '\n')
	}
	file := filepath.Join(p.TempDir(), "clusters.yaml")
	if err := os.WriteFile(file, text, 0o644); err != nil {
		p.Fatal(err)
	}
	for _, c := range clusters {
		p.given(c, acls)
	}
	if len(clusters) == 0 {
		return // a Job of the rendering makes the others
	}
	o := p.called("VALKEY_TOPOLOGY", "run", "--kind", "secrets", "-f", file)
	if o.code != 0 {
		p.Fatalf("secrets: exit status %d\n%s%s", o.code, o.out, o.errOut)
	}
}

// given makes the Secrets that a cluster names and that are not its own.
func (p *place) given(c *v1alpha1.ValkeyCluster, acls []*v1alpha1.ValkeyACL) {
	p.Helper()
	users, err := acl.Merge(c, acls)
	if err != nil {
		p.Fatal(err)
	}
	wanted := map[string]map[string]string{}
	for _, ref := range acl.Needs(c, users) {
		if ref.Secret == name.SystemSecret(c.Name) || ref.Secret == name.AuthSecret(c.Name) {
			continue
		}
		if wanted[ref.Secret] == nil {
			wanted[ref.Secret] = map[string]string{}
		}
		wanted[ref.Secret][ref.Key] = ref.Key + " password of " + ref.Secret
	}
	for secret, data := range wanted {
		p.secret(secret, data)
	}
	if c.TLSEnabled() {
		p.certificate(c)
	}
}

func convert[T any](p *place, from *unstructured.Unstructured, into T) T {
	p.Helper()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(from.Object, into); err != nil {
		p.Fatal(err)
	}
	return into
}

// secret makes a Secret that is not there.
func (p *place) secret(name string, data map[string]string) {
	p.Helper()
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: p.namespace}, StringData: data}
	if err := p.api.Create(p.Context(), s); err != nil && !apierrors.IsAlreadyExists(err) {
		p.Fatal(err)
	}
}

// password is one that a Secret holds.
func (p *place) password(secret, key string) string {
	p.Helper()
	return string(get(p, secret, &corev1.Secret{}).Data[key])
}
