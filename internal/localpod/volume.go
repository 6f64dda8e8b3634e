// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package localpod

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/valkey-render/valkey-render/render/script"
)

// volumes is the directory of the volumes that end with the pod.
func (p *Pod) volumes() string { return filepath.Join(p.host.opts.Dir, "volumes", p.name) }

func (p *Pod) isClaim(volume string) bool { return slices.Contains(p.claims, volume) }

// volume is the directory of one volume.
func (p *Pod) volume(called string) string {
	if p.isClaim(called) {
		return filepath.Join(p.host.opts.Dir, "claims", called+"-"+p.name)
	}
	return filepath.Join(p.volumes(), called)
}

// layVolumes makes the volumes of a new pod and puts each where it is mounted.
func (p *Pod) layVolumes() error {
	c, err := server(p.template)
	if err != nil {
		return err
	}
	for _, stale := range []string{p.root(), p.volumes()} {
		if err := os.RemoveAll(stale); err != nil {
			return err
		}
	}
	for _, m := range c.VolumeMounts {
		source := filepath.Join(p.volume(m.Name), filepath.Clean("/"+m.SubPath))
		if m.SubPathExpr != "" {
			return fmt.Errorf("volume %s: subPathExpr is not to be had without Kubernetes", m.Name)
		}
		target := filepath.Join(p.root(), filepath.Clean(m.MountPath))
		if err := errors.Join(os.MkdirAll(p.volume(m.Name), 0o700), os.MkdirAll(filepath.Dir(target), 0o700)); err != nil {
			return err
		}
		if err := os.Symlink(source, target); err != nil {
			return err
		}
	}
	for _, dir := range []string{"tmp", script.DataDir} {
		if err := os.MkdirAll(filepath.Join(p.root(), dir), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	if err := p.layModules(c); err != nil {
		return err
	}
	return p.fillVolumes()
}

// layModules puts the files of modules where their init containers would copy them.
func (p *Pod) layModules(c *corev1.Container) error {
	var missing []string
	for _, init := range p.template.Spec.InitContainers {
		module, found := strings.CutPrefix(init.Name, "module-")
		if !found {
			continue
		}
		file := p.host.opts.Modules[module]
		if file == "" {
			missing = append(missing, module)
			continue
		}
		target := p.root() + script.ModuleFile(module)
		if !slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == script.ModulesDir }) {
			return fmt.Errorf("module %s: nothing is mounted at %s", module, script.ModulesDir)
		}
		if err := os.Symlink(file, target); err != nil {
			return err
		}
	}
	if len(missing) > 0 {
		return &ModuleError{Modules: missing}
	}
	return nil
}

// ModuleError says that Options.Modules names no file for modules that are loaded.
type ModuleError struct {
	// Modules are their names in the spec.
	Modules []string
}

func (e *ModuleError) Error() string {
	return fmt.Sprintf("modules %s: their images are not used, so their files must be named", strings.Join(e.Modules, ", "))
}

// fillVolumes writes the files of all volumes that have a content.
func (p *Pod) fillVolumes() error {
	var failed []error
	for _, v := range p.template.Spec.Volumes {
		if p.isClaim(v.Name) {
			continue
		}
		content, some, err := p.content(&v)
		if err == nil && some {
			err = fill(p.volume(v.Name), content)
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("volume %s: %w", v.Name, err))
		}
	}
	return errors.Join(failed...)
}

// content is what is in a volume, by path; some is false for one that begins empty.
func (p *Pod) content(v *corev1.Volume) (content map[string][]byte, some bool, err error) {
	switch {
	case v.ConfigMap != nil:
		content, err = p.keys(p.host.configMaps, "ConfigMap", v.ConfigMap.Name, v.ConfigMap.Items, v.ConfigMap.Optional)
	case v.Secret != nil:
		content, err = p.keys(p.host.secrets, "Secret", v.Secret.SecretName, v.Secret.Items, v.Secret.Optional)
	case v.DownwardAPI != nil:
		content, err = p.fields(v.DownwardAPI.Items)
	case v.Projected != nil:
		content, err = p.projected(v.Projected.Sources)
	default:
		return nil, false, nil
	}
	return content, true, err
}

func (p *Pod) projected(sources []corev1.VolumeProjection) (map[string][]byte, error) {
	all := map[string][]byte{}
	for _, s := range sources {
		var content map[string][]byte
		var err error
		switch {
		case s.ConfigMap != nil:
			content, err = p.keys(p.host.configMaps, "ConfigMap", s.ConfigMap.Name, s.ConfigMap.Items, s.ConfigMap.Optional)
		case s.Secret != nil:
			content, err = p.keys(p.host.secrets, "Secret", s.Secret.Name, s.Secret.Items, s.Secret.Optional)
		case s.DownwardAPI != nil:
			content, err = p.fields(s.DownwardAPI.Items)
		default:
			err = errors.New("a projected source is not to be had without Kubernetes")
		}
		if err != nil {
			return nil, err
		}
		maps.Copy(all, content)
	}
	return all, nil
}

func (p *Pod) keys(objects map[string]map[string][]byte, kind, object string, items []corev1.KeyToPath, optional *bool) (map[string][]byte, error) {
	p.host.mu.Lock()
	data, found := objects[object]
	p.host.mu.Unlock()
	content := map[string][]byte{}
	if !found {
		if optional != nil && *optional {
			return content, nil
		}
		return nil, fmt.Errorf("%s/%s is not there", kind, object)
	}
	if len(items) == 0 {
		for key := range data {
			items = append(items, corev1.KeyToPath{Key: key, Path: key})
		}
	}
	for _, item := range items {
		bytes, found := data[item.Key]
		if !found && (optional == nil || !*optional) {
			return nil, fmt.Errorf("%s/%s has no key %s", kind, object, item.Key)
		}
		if filepath.Ext(item.Path) == ".conf" {
			bytes = []byte(p.paths.text(string(bytes)))
		}
		content[item.Path] = bytes
	}
	return content, nil
}

func (p *Pod) fields(items []corev1.DownwardAPIVolumeFile) (map[string][]byte, error) {
	content := map[string][]byte{}
	for _, item := range items {
		if item.FieldRef == nil {
			return nil, fmt.Errorf("file %s is not to be had without Kubernetes", item.Path)
		}
		text, err := p.field(item.FieldRef.FieldPath)
		if err != nil {
			return nil, err
		}
		content[item.Path] = []byte(p.paths.text(text))
	}
	return content, nil
}

// fill makes a directory hold these files and no others. Each is replaced at once.
func fill(dir string, content map[string][]byte) error {
	for path, data := range content {
		if !filepath.IsLocal(path) {
			return fmt.Errorf("path %q leads out of the volume", path)
		}
		file := filepath.Join(dir, path)
		if old, err := os.ReadFile(file); err == nil && string(old) == string(data) {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(file+".new", data, 0o600); err != nil {
			return err
		}
		if err := os.Rename(file+".new", file); err != nil {
			return err
		}
	}
	return filepath.WalkDir(dir, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		relative, err := filepath.Rel(dir, file)
		if err != nil {
			return err
		}
		if _, wanted := content[relative]; wanted {
			return nil
		}
		return os.Remove(file)
	})
}
