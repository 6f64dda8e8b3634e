// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package load

import (
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	syaml "sigs.k8s.io/yaml"
)

// namesFile is a file that every directory seems to have.
const namesFile = "valkey-render.dev-names.yaml"

// nameReferences tell kustomize which fields of our kinds hold names of other
// objects, so that namePrefix, nameSuffix and the hashes of generated Secrets
// reach them.
const nameReferences = `nameReference:
- kind: ValkeyCluster
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
  - {kind: ValkeyCluster, path: spec/replicateFrom/passwordSecret/name}
  - {kind: ValkeyCluster, path: spec/replicateFrom/caSecret/name}
  - {kind: ValkeyACL, path: spec/users/passwordSecret/name}
`

// withNames is a file system whose kustomizations know the name references of
// our kinds: each reads as if it had them in its configurations.
type withNames struct {
	filesys.FileSystem
}

// base is the last element of a path of any system.
func base(file string) string { return path.Base(strings.ReplaceAll(file, `\`, "/")) }

// ReadFile implements filesys.FileSystem.
func (fs withNames) ReadFile(file string) ([]byte, error) {
	if base(file) == namesFile {
		return []byte(nameReferences), nil
	}
	data, err := fs.FileSystem.ReadFile(file)
	if err != nil || !slices.Contains(konfig.RecognizedKustomizationFileNames(), base(file)) {
		return data, err
	}
	var k types.Kustomization
	if err := k.Unmarshal(data); err != nil {
		return data, nil //nolint:nilerr // kustomize reports it, with its own words
	}
	k.Configurations = append(k.Configurations, namesFile)
	return syaml.Marshal(k)
}

// CleanedAbs implements filesys.FileSystem.
func (fs withNames) CleanedAbs(file string) (filesys.ConfirmedDir, string, error) {
	if base(file) != namesFile {
		return fs.FileSystem.CleanedAbs(file)
	}
	dir, _, err := fs.FileSystem.CleanedAbs(strings.TrimSuffix(file, namesFile))
	return dir, namesFile, err
}
