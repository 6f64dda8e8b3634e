// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// nameReferences tells kustomize which fields of our specs name other objects,
// so that namePrefix, nameSuffix and hash suffixes of generated Secrets reach
// them.
const nameReferences = `nameReference:
- kind: ValkeyCluster
  group: valkey-render.dev
  fieldSpecs:
  - {kind: ValkeyACL, path: spec/clusterRef/name}
- kind: Secret
  version: v1
  fieldSpecs:
  - {kind: ValkeyCluster, path: spec/auth/existingSecret/name}
  - {kind: ValkeyCluster, path: spec/users/passwordSecret/name}
  - {kind: ValkeyCluster, path: spec/tls/secretName}
  - {kind: ValkeyCluster, path: spec/imagePullSecrets/name}
  - {kind: ValkeyCluster, path: spec/jobsTemplate/imagePullSecrets/name}
  - {kind: ValkeyCluster, path: spec/backup/s3/credentialsSecret}
  - {kind: ValkeyCluster, path: spec/backup/s3/caSecret/name}
  - {kind: ValkeyCluster, path: spec/restoreFrom/s3/credentialsSecret}
  - {kind: ValkeyCluster, path: spec/restoreFrom/s3/caSecret/name}
  - {kind: ValkeyCluster, path: spec/replicateFrom/passwordSecret/name}
  - {kind: ValkeyCluster, path: spec/replicateFrom/caSecret/name}
  - {kind: ValkeyACL, path: spec/users/passwordSecret/name}
`

// top is the disk with one directory more: a kustomization above the user's
// that only adds nameReferences, since kustomize resolves names once, at the
// top, and takes no configuration from its caller. Reading a kustomization that
// names a remote resource fails: a build makes no network connection. Nothing
// can be written through it.
type top struct {
	filesys.FileSystem
	dir   filesys.ConfirmedDir
	files map[string][]byte
}

func newTop(onDisk filesys.FileSystem, user filesys.ConfirmedDir) (*top, error) {
	root := filepath.VolumeName(user.String()) + string(filepath.Separator)
	t := &top{FileSystem: onDisk, dir: filesys.ConfirmedDir(filepath.Join(root, ".valkey-render-top"))}
	relative, err := filepath.Rel(t.dir.String(), user.String())
	if err != nil {
		return nil, err
	}
	kustomization := map[string]any{
		"resources":      []string{filepath.ToSlash(relative)},
		"configurations": []string{"names.yaml"},
	}
	t.files = map[string][]byte{t.dir.Join("names.yaml"): []byte(nameReferences)}
	// kustomize reads this one setting of the topmost kustomization only.
	if schema, ok := t.openapi(user); ok {
		kustomization["openapi"] = map[string]string{"path": "openapi.json"}
		t.files[t.dir.Join("openapi.json")] = schema
	}
	text, err := yaml.Marshal(kustomization)
	if err != nil {
		return nil, err
	}
	t.files[t.dir.Join("kustomization.yaml")] = text
	return t, nil
}

// openapi is the schema file of the user's kustomization, if it has one.
// Failures are left to kustomize, which reads the same file again.
func (t *top) openapi(user filesys.ConfirmedDir) ([]byte, bool) {
	for _, name := range kustomizationFiles() {
		data, err := t.FileSystem.ReadFile(user.Join(name))
		if err != nil {
			continue
		}
		var k struct {
			OpenAPI struct{ Path string } `json:"openapi"`
		}
		if yaml.Unmarshal(data, &k) != nil || k.OpenAPI.Path == "" || !filepath.IsLocal(k.OpenAPI.Path) {
			return nil, false
		}
		schema, err := t.FileSystem.ReadFile(user.Join(k.OpenAPI.Path))
		return schema, err == nil
	}
	return nil, false
}

// ReadFile implements filesys.FileSystem.
func (t *top) ReadFile(name string) ([]byte, error) {
	if data, ok := t.files[name]; ok {
		return data, nil
	}
	if filesys.ConfirmedDir(filepath.Dir(name)) == t.dir {
		return nil, fmt.Errorf("%s: does not exist", name)
	}
	data, err := t.FileSystem.ReadFile(name)
	if err == nil && slices.Contains(kustomizationFiles(), filepath.Base(name)) {
		err = onlyLocal(name, data)
	}
	return data, err
}

// CleanedAbs implements filesys.FileSystem.
func (t *top) CleanedAbs(name string) (filesys.ConfirmedDir, string, error) {
	if _, ok := t.files[name]; ok {
		return t.dir, filepath.Base(name), nil
	}
	if name == t.dir.String() {
		return t.dir, "", nil
	}
	return t.FileSystem.CleanedAbs(name)
}

// Exists implements filesys.FileSystem.
func (t *top) Exists(name string) bool {
	_, ok := t.files[name]
	return ok || name == t.dir.String() || t.FileSystem.Exists(name)
}

// IsDir implements filesys.FileSystem.
func (t *top) IsDir(name string) bool {
	return name == t.dir.String() || t.FileSystem.IsDir(name)
}

// remoteError is a kustomization that asks for the network.
type remoteError struct{ file, entry string }

func (e *remoteError) Error() string {
	return fmt.Sprintf("%s: remote resource %q is refused, since a build makes no network connection: vendor it into the repository", e.file, e.entry)
}

// onlyLocal refuses a kustomization whose entries name a URL or a repository. A
// file that cannot be parsed is left to kustomize's own message.
func onlyLocal(name string, data []byte) error {
	var k struct {
		Resources, Bases, Components, CRDs, Configurations []string
		Generators, Transformers, Validators               []string
		OpenAPI                                            struct{ Path string }
		Patches, PatchesJSON6902                           []struct{ Path string }
		PatchesStrategicMerge                              []string
		Replacements                                       []struct{ Path string }
	}
	if yaml.Unmarshal(data, &k) != nil {
		return nil
	}
	entries := slices.Concat(k.Resources, k.Bases, k.Components, k.CRDs, k.Configurations,
		k.Generators, k.Transformers, k.Validators, k.PatchesStrategicMerge, []string{k.OpenAPI.Path})
	for _, with := range slices.Concat(k.Patches, k.PatchesJSON6902, k.Replacements) {
		entries = append(entries, with.Path)
	}
	for _, entry := range entries {
		if isRemote(entry) {
			return &remoteError{filepath.ToSlash(name), entry}
		}
	}
	return nil
}

// isRemote reports whether kustomize would fetch an entry: a URL, the scp form
// user@host:path, or a repository on github.com without a scheme. Inline YAML,
// which some lists allow, is not.
func isRemote(entry string) bool {
	if strings.Contains(entry, "\n") {
		return false
	}
	lower := strings.ToLower(entry)
	for _, prefix := range []string{"git::", "gh:", "github.com/", "github.com:", "www.github.com/"} {
		if strings.HasPrefix(lower, prefix) {
			return true
		}
	}
	if strings.Contains(entry, "://") {
		return true
	}
	user, rest, ok := strings.Cut(entry, "@")
	return ok && !strings.ContainsAny(user, "/.") && strings.Contains(rest, ":")
}
