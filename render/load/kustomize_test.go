// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package load_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/openapi"

	"github.com/valkey-render/valkey-render/internal/golden"
	"github.com/valkey-render/valkey-render/render/load"
)

// tree is a file system from an archive: files begin with a line "== path".
func tree(t *testing.T, archive string) filesys.FileSystem {
	t.Helper()
	fs := filesys.MakeFsInMemory()
	for part := range strings.SplitSeq("\n"+archive, "\n== ") {
		name, content, found := strings.Cut(part, "\n")
		if !found {
			continue
		}
		if err := fs.WriteFile("/"+strings.TrimSpace(name), []byte(content+"\n")); err != nil {
			t.Fatal(err)
		}
	}
	return fs
}

const overlays = `== base/kustomization.yaml
resources: [cluster.yaml, other.yaml]
== base/other.yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: other}
data: {a: b}
== base/cluster.yaml
apiVersion: valkey-render.dev/v1alpha1
kind: ValkeyCluster
metadata: {name: shop}
spec:
  version: "9.1"
  users:
  - {name: ann, channels: [a]}
  - name: bob
  modules:
  - {name: search, image: i, path: /a}
  pod:
    containers:
    - {name: web, image: x, env: [{name: A, value: "1"}]}
    volumes:
    - {name: v, emptyDir: {}}
    volumeMounts:
    - {name: v, mountPath: /v}
  imagePullSecrets: [{name: one}]
  jobsTemplate:
    imagePullSecrets: [{name: one}]
---
apiVersion: valkey-render.dev/v1alpha1
kind: ValkeyACL
metadata: {name: app}
spec:
  clusterRef: {name: shop}
  users: [{name: cat}]
== prod/kustomization.yaml
namespace: prod
resources: [../base]
commonAnnotations: {team: web}
patches:
- patch: |
    apiVersion: valkey-render.dev/v1alpha1
    kind: ValkeyCluster
    metadata: {name: shop}
    spec:
      shards: 5
      config: {hz: "50"}
      users: [{name: bob, nopass: true}]
      modules: [{name: search, image: j}]
      pod:
        containers: [{name: web, env: [{name: B, value: "2"}]}]
        volumes: [{name: v, configMap: {name: c}}]
        volumeMounts: [{mountPath: /v, readOnly: true}]
      imagePullSecrets: [{name: two}]
      jobsTemplate: {imagePullSecrets: [{name: two}]}
- path: acl.yaml
  target: {kind: ValkeyACL}
- target: {kind: ValkeyCluster}
  patch: "- {op: add, path: /spec/replicasPerShard, value: 2}"
== prod/acl.yaml
apiVersion: valkey-render.dev/v1alpha1
kind: ValkeyACL
metadata: {name: app}
spec: {users: [{name: cat, nopass: true}, {name: dan}]}
== test/kustomization.yml
namePrefix: test-
resources: [../base/]
secretGenerator: [{name: web, literals: [a=b]}]
patches:
- patch: |
    apiVersion: valkey-render.dev/v1alpha1
    kind: ValkeyCluster
    metadata: {name: shop}
    spec:
      auth: {existingSecret: {name: web}}
      users: [{name: ann, passwordSecret: {name: web}}, {name: bob, passwordSecret: {name: elsewhere}}]
`

func TestEnvironmentsAreOverlaysOverSpecs(t *testing.T) {
	fs := tree(t, overlays)
	sources, err := load.FromKustomization(fs, "/prod")
	if err != nil {
		t.Fatal(err)
	}
	set, findings := load.Parse(sources, load.Options{})
	if len(findings) > 0 || len(set.Clusters) != 1 || len(set.ACLs) != 1 || set.Ignored != 0 {
		t.Fatalf("%+v\n%s", set, findings.Text())
	}
	if diff := cmp.Diff("/prod/kustomization.yaml ValkeyCluster/prod/shop 0", set.Clusters[0].Origin.File+" "+set.Clusters[0].Origin.Object+" 0"); diff != "" {
		t.Error(diff)
	}
	golden.File(t, "testdata/kustomized.yaml", []byte(asYAML(t, set.Clusters[0].Object)+"---\n"+asYAML(t, set.ACLs[0].Object)))
	again, err := load.FromKustomization(fs, "/prod")
	if err != nil || !cmp.Equal(sources, again) {
		t.Errorf("a second build differs: %v", err)
	}
	if openapi.GetSchemaVersion() == "using custom schema from file provided" {
		t.Error("the build left a schema behind")
	}
}

func TestNamePrefixesWorkOnSpecs(t *testing.T) {
	sources, err := load.FromKustomization(tree(t, overlays), "/test")
	if err != nil {
		t.Fatal(err)
	}
	set, findings := load.Parse(sources, load.Options{})
	if len(findings) > 0 {
		t.Errorf("findings:\n%s", findings.Text())
	}
	if got := names(set); got != "ValkeyCluster/test-shop ValkeyACL/test-app" {
		t.Errorf("objects %s", got)
	}
	if got := set.ACLs[0].Object.Spec.ClusterRef.Name; got != "test-shop" {
		t.Errorf("the access list is for %q", got)
	}
	spec := set.Clusters[0].Object.Spec
	if got := spec.Auth.ExistingSecret.Name; !strings.HasPrefix(got, "test-web-") || spec.Users[0].PasswordSecret.Name != got {
		t.Errorf("the generated Secret is not followed: %q, %q", got, spec.Users[0].PasswordSecret.Name)
	}
	if got := spec.Users[1].PasswordSecret.Name; got != "elsewhere" {
		t.Errorf("a Secret from elsewhere is renamed to %q", got)
	}
}

func TestFindingsOfAKustomizationNameItsFile(t *testing.T) {
	fs := tree(t, `== kustomization.yaml
resources: [a.yaml]
== a.yaml
apiVersion: valkey-render.dev/v1alpha1
kind: ValkeyCluster
metadata: {name: a}
spec: {version: 9.1, shard: 2}
---
apiVersion: valkey-render.dev/v1alpha1
kind: ValkeyClutser
metadata: {name: x}
`)
	sources, err := load.FromKustomization(fs, "/")
	if err != nil {
		t.Fatal(err)
	}
	_, findings := load.Parse(sources, load.Options{})
	want := `/kustomization.yaml: error VR0106 ValkeyClutser/x kind: valkey-render.dev/v1alpha1 has no kind "ValkeyClutser"; did you mean "ValkeyCluster"?
/kustomization.yaml: error VR0101 ValkeyCluster/a spec.shard: unknown field; did you mean "shards"?
/kustomization.yaml: error VR0103 ValkeyCluster/a spec.version: 9.1 is a number where text is wanted; write "9.1"
`
	if diff := cmp.Diff(want, string(findings.Text())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestNothingIsFetchedOrRun(t *testing.T) {
	fs := tree(t, `== kustomization.yaml
resources:
- https://example.com/a.yaml
- github.com/valkey-io/valkey//deploy?ref=main
- git@example.com:a/b
- example.com/a/b
- below
- a.yaml
- |
  apiVersion: v1
  kind: ConfigMap
  metadata: {name: inline}
components: [a.yaml, ssh://git@example.com/a]
crds: ["https://example.com/a"]
configurations: ["https://example.com/a"]
patches: [{path: "https://example.com/a"}]
patchesStrategicMerge: ["https://example.com/a", "a: |\n  https://fine\n"]
patchesJson6902: [{path: "https://example.com/a", target: {kind: A, name: a, version: v1}}]
replacements: [{path: "https://example.com/a"}]
openapi: {path: "https://example.com/a"}
configMapGenerator: [{name: a, files: ["k=https://example.com/a", "https://example.com/b?x=y", fine.txt, k=fine.txt], envs: ["https://example.com/a"]}]
secretGenerator: [{name: a, env: "https://example.com/a"}]
helmCharts: [{name: a}]
helmGlobals: {chartHome: a}
generators: [a.yaml]
transformers: [a.yaml]
validators: [a.yaml]
== a.yaml
a: b
== below/kustomization.yaml
resources: [.., "https://example.com/c"]
`)
	_, err := load.FromKustomization(fs, "/")
	if err == nil {
		t.Fatal("no error")
	}
	golden.File(t, "testdata/remote.txt", []byte(err.Error()+"\n"))
}

func TestKustomizationsThatCannotBeBuilt(t *testing.T) {
	fs := tree(t, `== none/a.yaml
a: b
== two/kustomization.yaml
resources: []
== two/kustomization.yml
resources: []
== unknown/kustomization.yaml
resource: []
== notarget/kustomization.yaml
resources: [a.yaml]
patches: [{patch: "{apiVersion: v1, kind: A, metadata: {name: b}}"}]
== notarget/a.yaml
apiVersion: v1
kind: A
metadata: {name: a}
== outside/kustomization.yaml
resources: [../none/a.yaml]
`)
	for dir, want := range map[string]string{
		"/none":     "/none: has no kustomization.yaml",
		"/nowhere":  "/nowhere: is not a directory",
		"/two":      "/two: has more than one kustomization file",
		"/unknown":  "/unknown/kustomization.yaml: cannot be read: ",
		"/notarget": "/notarget/kustomization.yaml: build failed: ",
		"/outside":  "/outside/kustomization.yaml: build failed: ",
	} {
		_, err := load.FromKustomization(fs, dir)
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %s", dir, err, want)
		}
	}
}

func TestKustomizationsOnDisk(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"kustomization.yaml": "namePrefix: a-\nresources: [c.yaml]\n",
		"c.yaml":             cluster("shop", "---\napiVersion: valkey-render.dev/v1alpha1\nkind: ValkeyACL\nmetadata: {name: app}\nspec: {clusterRef: {name: shop}, users: [{name: a}]}\n"),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	for _, at := range []string{dir, ".", filepath.Join("..", filepath.Base(dir))} {
		sources, err := load.FromKustomization(filesys.MakeFsOnDisk(), at)
		if err != nil {
			t.Fatal(err)
		}
		if set, findings := load.Parse(sources, load.Options{}); len(findings) > 0 || names(set) != "ValkeyCluster/a-shop ValkeyACL/a-app" {
			t.Errorf("%s: %s\n%s", at, names(set), findings.Text())
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("the directory was touched: %v, %v", entries, err)
	}
}
