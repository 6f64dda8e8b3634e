// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAnEnvironmentIsAnOverlayOverSpecs(t *testing.T) {
	lay(t, map[string]string{
		"base/cluster.yaml":       "apiVersion: valkey-render.dev/v1alpha1\nkind: ValkeyCluster\nmetadata: {name: cache}\n",
		"base/kustomization.yaml": "resources: [cluster.yaml]\n",
		"prod/deployment.yaml":    "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: app}\n",
		"prod/kustomization.yaml": `resources: [../base, deployment.yaml]
namePrefix: prod-
namespace: shop
patches:
- patch: |
    apiVersion: valkey-render.dev/v1alpha1
    kind: ValkeyCluster
    metadata: {name: cache}
    spec: {shards: 5}
`,
	})
	got, said := read(t, nil, Request{Kustomizations: []string{"prod/", "./prod"}})
	want := []string{`prod/kustomization.yaml=apiVersion: valkey-render.dev/v1alpha1
kind: ValkeyCluster
metadata:
  name: prod-cache
  namespace: shop
spec:
  shards: 5`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if len(said) != 1 || !strings.Contains(said[0], "VR1004: 1 object of another kind is left out") {
		t.Errorf("findings %v", said)
	}
}

func TestKustomizationsThatAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		kustomization string
		want          []string
	}{
		"everything that asks for the network, at once": {
			"resources: ['https://example.com/cluster.yaml', 'github.com/acme/clusters//base?ref=v1']\npatches: [{path: 'http://example.com/p.yaml'}]\n",
			[]string{
				`env/kustomization.yaml: error VR0013: patches[0].path "http://example.com/p.yaml" is remote: only local files are read`,
				`env/kustomization.yaml: error VR0013: resources[0] "https://example.com/cluster.yaml" is remote: only local files are read`,
				`env/kustomization.yaml: error VR0013: resources[1] "github.com/acme/clusters//base?ref=v1" is remote: only local files are read`,
			},
		},
		"no spec in it": {
			"configMapGenerator: [{name: a, literals: [b=c]}]\n",
			[]string{"env: error VR0012: no object of valkey-render.dev in the kustomization"},
		},
		"a build that fails": {
			"resources: [a.yaml]\n",
			[]string{`env/kustomization.yaml: error VR0013: resources[0] "a.yaml" is not there; only local files and directories are read`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			lay(t, map[string]string{"env/kustomization.yaml": c.kustomization})
			_, said := read(t, nil, Request{Kustomizations: []string{"env"}})
			if diff := cmp.Diff(c.want, said); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestAFileIsNoKustomization(t *testing.T) {
	lay(t, map[string]string{"kustomization.yaml": ""})
	_, said := read(t, nil, Request{Kustomizations: []string{"kustomization.yaml"}})
	if diff := cmp.Diff([]string{"kustomization.yaml: error VR0013: is not a directory"}, said); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
