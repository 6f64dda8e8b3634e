// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"path"
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateVolumes returns the volumes that the spec adds, by name.
func (c *ValkeyCluster) validateVolumes(v *violations, path *field.Path) map[string]*corev1.Volume {
	volumes := map[string]*corev1.Volume{}
	for i := range c.Spec.Pod.Volumes {
		volume, at := &c.Spec.Pod.Volumes[i], path.Index(i)
		for _, why := range utilvalidation.IsDNS1123Label(volume.Name) {
			v.invalid(at.Child("name"), volume.Name, "%s", why)
		}
		if volumes[volume.Name] != nil {
			v.duplicate(at.Child("name"), volume.Name)
		} else if reservedVolume(volume.Name) {
			v.invalid(at.Child("name"), volume.Name, "is the name of a volume of valkey-render")
		}
		volumes[volume.Name] = volume
		if v.exactlyOne(at, volume.VolumeSource, "a source for the volume, like emptyDir: {}") {
			v.volumeSource(at, &volume.VolumeSource)
		}
	}
	return volumes
}

// exactlyOne holds that a struct of pointers, of which each is one kind of source,
// has one of them; what names them. Strings that must be in it are required too:
// those without omitempty in the types of Kubernetes.
func (v *violations) exactlyOne(at *field.Path, sources any, what string) bool {
	var first string
	value := reflect.ValueOf(sources)
	for i := range value.NumField() {
		if value.Field(i).IsNil() {
			continue
		}
		name, _, _ := strings.Cut(value.Type().Field(i).Tag.Get("json"), ",")
		if first != "" {
			v.forbidden(at.Child(name), "there is %s already: only one source is possible", first)
			return false
		}
		first = name
	}
	if first == "" {
		v.required(at, "%s", what)
		return false
	}
	return true
}

// requiredStrings reports the strings of a struct that may not be empty.
func (v *violations) requiredStrings(at *field.Path, source any) {
	value := reflect.ValueOf(source).Elem()
	for i := range value.NumField() {
		name, options, _ := strings.Cut(value.Type().Field(i).Tag.Get("json"), ",")
		if value.Field(i).Kind() == reflect.String && options == "" && name != "" && value.Field(i).String() == "" {
			v.required(at.Child(name), "must be given for this source")
		}
	}
}

// volumeSource checks the one source that a volume has.
func (v *violations) volumeSource(at *field.Path, s *corev1.VolumeSource) {
	value := reflect.ValueOf(*s)
	for i := range value.NumField() {
		if !value.Field(i).IsNil() {
			name, _, _ := strings.Cut(value.Type().Field(i).Tag.Get("json"), ",")
			v.requiredStrings(at.Child(name), value.Field(i).Interface())
		}
	}
	switch {
	case s.EmptyDir != nil:
		v.emptyDir(at.Child("emptyDir"), s.EmptyDir)
	case s.HostPath != nil:
		at := at.Child("hostPath")
		if climbs(s.HostPath.Path) {
			v.invalid(at.Child("path"), s.HostPath.Path, "must not contain '..'")
		}
		if s.HostPath.Type != nil {
			oneOf(v, at.Child("type"), *s.HostPath.Type, corev1.HostPathDirectoryOrCreate, corev1.HostPathDirectory, corev1.HostPathFileOrCreate,
				corev1.HostPathFile, corev1.HostPathSocket, corev1.HostPathCharDev, corev1.HostPathBlockDev)
		}
	case s.Secret != nil:
		at := at.Child("secret")
		v.objectName(at.Child("secretName"), s.Secret.SecretName, "name of a Secret")
		v.fileMode(at.Child("defaultMode"), s.Secret.DefaultMode)
		v.items(at.Child("items"), s.Secret.Items)
	case s.ConfigMap != nil:
		at := at.Child("configMap")
		v.objectName(at.Child("name"), s.ConfigMap.Name, "name of a ConfigMap")
		v.fileMode(at.Child("defaultMode"), s.ConfigMap.DefaultMode)
		v.items(at.Child("items"), s.ConfigMap.Items)
	case s.DownwardAPI != nil:
		at := at.Child("downwardAPI")
		v.fileMode(at.Child("defaultMode"), s.DownwardAPI.DefaultMode)
		v.downwardItems(at.Child("items"), s.DownwardAPI.Items)
	case s.Projected != nil:
		v.projected(at.Child("projected"), s.Projected)
	case s.PersistentVolumeClaim != nil:
		v.subdomain(at.Child("persistentVolumeClaim", "claimName"), s.PersistentVolumeClaim.ClaimName)
	case s.NFS != nil:
		if p := s.NFS.Path; p != "" && !path.IsAbs(p) {
			v.invalid(at.Child("nfs", "path"), p, "must be an absolute path")
		}
	case s.CSI != nil:
		v.subdomain(at.Child("csi", "driver"), s.CSI.Driver)
	case s.Ephemeral != nil:
		v.ephemeral(at.Child("ephemeral", "volumeClaimTemplate"), s.Ephemeral)
	case s.Image != nil:
		at := at.Child("image")
		if s.Image.Reference == "" {
			v.required(at.Child("reference"), "image to mount")
		}
		v.image(at.Child("reference"), s.Image.Reference)
		oneOf(v, at.Child("pullPolicy"), s.Image.PullPolicy, corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever)
	}
}

func (v *violations) emptyDir(at *field.Path, e *corev1.EmptyDirVolumeSource) {
	huge := strings.HasPrefix(string(e.Medium), string(corev1.StorageMediumHugePagesPrefix))
	if !huge {
		oneOf(v, at.Child("medium"), e.Medium, corev1.StorageMediumMemory, corev1.StorageMediumHugePages)
	}
	if e.SizeLimit != nil && e.SizeLimit.Sign() < 0 {
		v.invalid(at.Child("sizeLimit"), e.SizeLimit.String(), "must not be below zero")
	}
}

func (v *violations) ephemeral(at *field.Path, e *corev1.EphemeralVolumeSource) {
	if e.VolumeClaimTemplate == nil {
		v.required(at, "claim to make for each pod")
		return
	}
	at = at.Child("spec")
	spec := e.VolumeClaimTemplate.Spec
	if len(spec.AccessModes) == 0 {
		v.required(at.Child("accessModes"), "at least one, like ReadWriteOnce")
	}
	for i, mode := range spec.AccessModes {
		oneOf(v, at.Child("accessModes").Index(i), mode, corev1.ReadWriteOnce, corev1.ReadWriteOncePod, corev1.ReadOnlyMany, corev1.ReadWriteMany)
	}
	size, found := spec.Resources.Requests[corev1.ResourceStorage]
	if at := at.Child("resources", "requests").Key("storage"); !found {
		v.required(at, "size of the volume")
	} else if size.Sign() <= 0 {
		v.invalid(at, size.String(), "must be more than zero")
	}
	one(v, at.Child("volumeMode"), spec.VolumeMode, corev1.PersistentVolumeFilesystem, corev1.PersistentVolumeBlock)
}

// fileMode: files have permissions for reading, writing and running, no more.
func (v *violations) fileMode(at *field.Path, mode *int32) {
	if mode != nil && (*mode < 0 || *mode > 0o777) {
		v.invalid(at, *mode, "must be between 0 and 0777, which is 511")
	}
}

// filePath reports what is no place below a volume.
func (v *violations) filePath(at *field.Path, file string) {
	switch {
	case file == "":
		v.required(at, "path below the volume")
	case path.IsAbs(file):
		v.invalid(at, file, "must be relative: did you mean %s?", strings.TrimLeft(file, "/"))
	case climbs(file):
		v.invalid(at, file, "must not contain '..'")
	}
}

func (v *violations) items(at *field.Path, items []corev1.KeyToPath) {
	for i, item := range items {
		at := at.Index(i)
		if item.Key == "" {
			v.required(at.Child("key"), "key to write to the path")
		}
		v.key(at.Child("key"), item.Key)
		v.filePath(at.Child("path"), item.Path)
		v.fileMode(at.Child("mode"), item.Mode)
	}
}

func (v *violations) downwardItems(at *field.Path, items []corev1.DownwardAPIVolumeFile) {
	for i, item := range items {
		at := at.Index(i)
		v.filePath(at.Child("path"), item.Path)
		v.fileMode(at.Child("mode"), item.Mode)
		switch {
		case item.FieldRef == nil && item.ResourceFieldRef == nil:
			v.required(at, "fieldRef or resourceFieldRef")
		case item.FieldRef != nil && item.ResourceFieldRef != nil:
			v.forbidden(at.Child("resourceFieldRef"), "there is fieldRef already: make it an entry of its own")
		case item.FieldRef != nil:
			v.fieldRef(at.Child("fieldRef"), item.FieldRef, "metadata.labels", "metadata.annotations")
		default:
			v.resourceFieldRef(at.Child("resourceFieldRef"), item.ResourceFieldRef, true)
		}
	}
}

// projected checks each of the sources of a volume that has several.
func (v *violations) projected(at *field.Path, p *corev1.ProjectedVolumeSource) {
	v.fileMode(at.Child("defaultMode"), p.DefaultMode)
	files := sets.New[string]()
	file := func(at *field.Path, name string) {
		if name != "" && files.Has(name) {
			v.duplicate(at, name)
		}
		files.Insert(name)
	}
	for i := range p.Sources {
		s, at := &p.Sources[i], at.Child("sources").Index(i)
		if !v.exactlyOne(at, *s, "secret, configMap, downwardAPI, serviceAccountToken, clusterTrustBundle or podCertificate") {
			continue
		}
		switch {
		case s.Secret != nil:
			v.objectName(at.Child("secret", "name"), s.Secret.Name, "name of a Secret")
			v.items(at.Child("secret", "items"), s.Secret.Items)
			for i, item := range s.Secret.Items {
				file(at.Child("secret", "items").Index(i).Child("path"), item.Path)
			}
		case s.ConfigMap != nil:
			v.objectName(at.Child("configMap", "name"), s.ConfigMap.Name, "name of a ConfigMap")
			v.items(at.Child("configMap", "items"), s.ConfigMap.Items)
			for i, item := range s.ConfigMap.Items {
				file(at.Child("configMap", "items").Index(i).Child("path"), item.Path)
			}
		case s.DownwardAPI != nil:
			v.downwardItems(at.Child("downwardAPI", "items"), s.DownwardAPI.Items)
			for i, item := range s.DownwardAPI.Items {
				file(at.Child("downwardAPI", "items").Index(i).Child("path"), item.Path)
			}
		case s.ServiceAccountToken != nil:
			at := at.Child("serviceAccountToken")
			v.filePath(at.Child("path"), s.ServiceAccountToken.Path)
			within(v, at.Child("expirationSeconds"), s.ServiceAccountToken.ExpirationSeconds, 600, 1<<32)
			file(at.Child("path"), s.ServiceAccountToken.Path)
		case s.ClusterTrustBundle != nil:
			v.trustBundle(at.Child("clusterTrustBundle"), s.ClusterTrustBundle)
			file(at.Child("clusterTrustBundle", "path"), s.ClusterTrustBundle.Path)
		case s.PodCertificate != nil:
			v.requiredStrings(at.Child("podCertificate"), s.PodCertificate)
		}
	}
}

func (v *violations) trustBundle(at *field.Path, b *corev1.ClusterTrustBundleProjection) {
	v.filePath(at.Child("path"), b.Path)
	switch {
	case b.Name == nil && b.SignerName == nil:
		v.required(at, "name or signerName")
	case b.Name != nil && b.SignerName != nil:
		v.forbidden(at.Child("signerName"), "there is name already: remove one of the two")
	}
	v.list = append(v.list, validation.ValidateLabelSelector(b.LabelSelector, validation.LabelSelectorValidationOptions{}, at.Child("labelSelector"))...)
}
