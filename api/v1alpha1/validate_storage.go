// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"path"
	"regexp"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func (c *ValkeyCluster) validateStorage(v *violations, path *field.Path) {
	s := c.Spec.Storage
	if s == nil {
		if c.IsDurable() {
			v.required(path, "profile Durable keeps data: for example {size: 10Gi}")
		}
		return
	}
	oneOf(v, path.Child("mode"), s.Mode, StorageRDB, StorageAOF, StorageBoth, StorageNone)
	oneOf(v, path.Child("medium"), s.Medium, MediumDisk, MediumMemory)
	oneOf(v, path.Child("accessMode"), s.AccessMode, corev1.ReadWriteOnce, corev1.ReadWriteOncePod)
	oneOf(v, path.Child("reclaimPolicy"), s.ReclaimPolicy, ReclaimRetain, ReclaimDelete)
	if s.StorageClassName != nil {
		v.subdomain(path.Child("storageClassName"), *s.StorageClassName)
	}
	if s.Size != nil && s.Size.Sign() <= 0 {
		v.invalid(path.Child("size"), s.Size.String(), "must be more than zero")
	}
	c.validateInitialSize(v, path.Child("initialSize"))
	if c.IsDurable() && s.Mode == StorageNone {
		v.invalid(path.Child("mode"), s.Mode, "profile Durable writes to disk: rdb, aof or both; did you mean profile: Cache?")
	}
	if s.Medium == MediumMemory {
		c.validateTmpfs(v, path)
	}
}

// validateInitialSize holds that a claim made from the template of a
// StatefulSet is never larger than the one rendered, which could then not be
// applied.
func (c *ValkeyCluster) validateInitialSize(v *violations, path *field.Path) {
	initial := c.Spec.Storage.InitialSize
	if initial == nil {
		return
	}
	if initial.Sign() <= 0 {
		v.invalid(path, initial.String(), "must be more than zero")
		return
	}
	if size := c.StorageSize(); size.Sign() > 0 && initial.Cmp(size) > 0 {
		v.invalid(path, initial.String(), "must not be more than the size of %s", size.String())
	}
}

// validateTmpfs holds what a tmpfs cannot do.
func (c *ValkeyCluster) validateTmpfs(v *violations, path *field.Path) {
	s := c.Spec.Storage
	if c.IsDurable() {
		v.invalid(path.Child("medium"), s.Medium, "a tmpfs keeps nothing and profile Durable does: did you mean medium: Disk?")
	}
	if s.Mode != "" && s.Mode != StorageNone && !c.IsDurable() {
		v.invalid(path.Child("mode"), s.Mode, "a tmpfs persists nothing: did you mean mode: none, or medium: Disk?")
	}
	for _, f := range []struct {
		name string
		set  bool
	}{
		{"storageClassName", s.StorageClassName != nil},
		{"accessMode", s.AccessMode != ""},
		{"initialSize", s.InitialSize != nil},
	} {
		if f.set {
			v.forbidden(path.Child(f.name), "medium Memory has no claims")
		}
	}
}

var (
	moduleNameForm = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)
	modulePathForm = regexp.MustCompile(`^/[^\x00-\x20\x7f]+$`)
)

func (c *ValkeyCluster) validateModules(v *violations, at *field.Path) {
	seen := map[string]bool{}
	for i, m := range c.Spec.Modules {
		at := at.Index(i)
		if len(m.Name) > 40 || !moduleNameForm.MatchString(m.Name) {
			v.invalid(at.Child("name"), m.Name, "must be lower-case letters, digits and '-', at most 40")
		}
		if seen[m.Name] {
			v.duplicate(at.Child("name"), m.Name)
		}
		seen[m.Name] = true
		if m.Image == "" {
			v.required(at.Child("image"), "image that holds the module")
		}
		v.image(at.Child("image"), m.Image)
		if !modulePathForm.MatchString(m.Path) || path.Clean(m.Path) != m.Path || m.Path == "/" {
			v.invalid(at.Child("path"), m.Path, "must be the absolute path of a file, without spaces, like /usr/lib/valkey/json.so")
		}
		for j, arg := range m.Args {
			if arg == "" {
				v.required(at.Child("args").Index(j), "argument of the module")
			}
			v.printable(at.Child("args").Index(j), arg)
		}
	}
}
