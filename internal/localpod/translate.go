// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package localpod

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/render/script"
)

// paths replaces the paths that a container mounts by where they are here.
type paths struct {
	// root is the directory that the mounts are below.
	root   string
	mounts []string
}

func newPaths(root string, c *corev1.Container) paths {
	p := paths{root: root}
	for _, m := range c.VolumeMounts {
		p.mounts = append(p.mounts, filepath.Clean(m.MountPath))
	}
	// The longest first: one may be below another.
	slices.SortFunc(p.mounts, func(a, b string) int { return len(b) - len(a) })
	return p
}

// text replaces each path that begins a word. Words end at blanks and quotes.
func (p paths) text(s string) string {
	const ends = " \t\n\r\"'"
	var out strings.Builder
	begins := true
	for i := 0; i < len(s); i++ {
		if begins && s[i] == '/' {
			for _, mount := range p.mounts {
				rest, found := strings.CutPrefix(s[i:], mount)
				if found && (rest == "" || rest[0] == '/' || strings.IndexByte(ends, rest[0]) >= 0) {
					out.WriteString(p.root)
					break
				}
			}
		}
		out.WriteByte(s[i])
		begins = strings.IndexByte(ends, s[i]) >= 0
	}
	return out.String()
}

// expand replaces $(NAME) as Kubernetes does: $$ is $, and an unknown name stays.
func expand(s string, known map[string]string) string {
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] != '$' || i+1 == len(s):
		case s[i+1] == '$':
			i++
		case s[i+1] == '(':
			if end := strings.IndexByte(s[i:], ')'); end > 0 {
				if value, found := known[s[i+2:i+end]]; found {
					out.WriteString(value)
					i += end
					continue
				}
			}
		}
		out.WriteByte(s[i])
	}
	return out.String()
}

// variables are the container's own environment, as Kubernetes would set it.
func (p *Pod) variables(c *corev1.Container) (map[string]string, error) {
	env := map[string]string{}
	for _, e := range c.Env {
		value := expand(e.Value, env)
		if e.ValueFrom != nil {
			var err error
			if value, err = p.source(e.ValueFrom); err != nil {
				return nil, fmt.Errorf("variable %s: %w", e.Name, err)
			}
		}
		env[e.Name] = value
	}
	return env, nil
}

func (p *Pod) source(from *corev1.EnvVarSource) (string, error) {
	switch {
	case from.FieldRef != nil:
		return p.field(from.FieldRef.FieldPath)
	case from.SecretKeyRef != nil:
		return p.host.value(p.host.secrets, "Secret", from.SecretKeyRef.Name, from.SecretKeyRef.Key, from.SecretKeyRef.Optional)
	case from.ConfigMapKeyRef != nil:
		return p.host.value(p.host.configMaps, "ConfigMap", from.ConfigMapKeyRef.Name, from.ConfigMapKeyRef.Key, from.ConfigMapKeyRef.Optional)
	}
	return "", fmt.Errorf("its source is not to be had without Kubernetes")
}

func (h *Host) value(objects map[string]map[string][]byte, kind, object, key string, optional *bool) (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	data, found := objects[object][key]
	if !found && (optional == nil || !*optional) {
		return "", fmt.Errorf("%s/%s has no key %s", kind, object, key)
	}
	return string(data), nil
}

// field is a field of the pod that environment and files may hold.
func (p *Pod) field(path string) (string, error) {
	switch path {
	case "metadata.name":
		return p.name, nil
	case "metadata.namespace":
		return p.namespace, nil
	case "metadata.uid":
		return p.name, nil
	case "status.podIP", "status.podIPs", "status.hostIP":
		return p.Address().String(), nil
	case "spec.nodeName":
		return "localhost", nil
	case "spec.serviceAccountName":
		return "default", nil
	}
	for prefix, values := range map[string]map[string]string{
		"metadata.annotations['": p.template.Annotations, "metadata.labels['": p.template.Labels,
	} {
		if key, found := strings.CutPrefix(path, prefix); found {
			return values[strings.TrimSuffix(key, "']")], nil
		}
	}
	return "", fmt.Errorf("field %s is not to be had without Kubernetes", path)
}

// commandLine is what runs in a container: a command of it, or its own with its
// arguments, with the environment.
func (p *Pod) commandLine(command, args []string) (line, env []string, err error) {
	c, err := server(p.template)
	if err != nil {
		return nil, nil, err
	}
	known, err := p.variables(c)
	if err != nil {
		return nil, nil, err
	}
	fqdn := known[script.EnvFQDN]
	for _, word := range append(slices.Clone(command), args...) {
		word = expand(word, known)
		if word == fqdn && fqdn != "" {
			word = p.Address().String()
		}
		line = append(line, p.paths.text(word))
	}
	if len(line) > 0 && line[0] == "/bin/sh" {
		line = append(slices.Clone(p.host.opts.Shell), line[1:]...)
	}
	for key, value := range p.overrides(known) {
		known[key] = value
	}
	for key, value := range known {
		env = append(env, key+"="+value)
	}
	slices.Sort(env)
	return line, env, nil
}

// overrides are the variables that differ from those in a container.
func (p *Pod) overrides(known map[string]string) map[string]string {
	env := map[string]string{
		"PATH":         p.host.opts.Programs + string(os.PathListSeparator) + p.host.opts.Path,
		"TMPDIR":       filepath.Join(p.root(), "tmp"),
		"VALKEY_ROOT":  p.root() + script.Root,
		"VALKEY_DATA":  p.root() + script.DataDir,
		script.EnvFQDN: p.Address().String(),
	}
	members, ok := readMembers(p.root() + script.LiveDir + "/" + script.MembersFile)
	if !ok || known[script.EnvPeers] != "" {
		return env
	}
	cluster, shard := p.cluster, p.set
	if p.sentinel {
		shard = name.StatefulSet(cluster, 0)
	} else {
		members.replicas = max(members.replicas, p.ordinal)
	}
	env[script.EnvReplicas] = strconv.Itoa(members.replicas)
	env[script.EnvPeers] = p.host.addresses(shard, members.replicas+1)
	env[script.EnvSentinels] = p.host.addresses(name.Sentinel(cluster), members.sentinels)
	return env
}

// addresses are those of the first pods of a StatefulSet, that exist or not.
func (h *Host) addresses(set string, count int) string {
	var all []string
	for i := range count {
		all = append(all, h.network.address(fmt.Sprintf("%s-%d", set, i)).String())
	}
	return strings.Join(all, " ")
}

type membership struct{ replicas, sentinels int }

// readMembers reads the file as members.sh does: without its end or a number
// nothing is known.
func readMembers(file string) (membership, bool) {
	text, err := os.ReadFile(file)
	if err != nil {
		return membership{}, false
	}
	m := membership{-1, -1}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	for _, line := range lines {
		key, value, _ := strings.Cut(line, " ")
		number, err := strconv.ParseUint(value, 10, 16)
		switch {
		case key == "replicas" && err == nil:
			m.replicas = int(number)
		case key == "sentinels" && err == nil:
			m.sentinels = int(number)
		}
	}
	return m, lines[len(lines)-1] == script.EndMarker(script.MembersFile) && m.replicas >= 0 && m.sentinels >= 0
}
