// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/conf"
)

// renderedValues are the values that build gives to directives of a version where
// spec.config has none, by name, with what they depend on: "allkeys-lru (Cache),
// noeviction (Durable)". Sizes that follow from the memory limit are those of 1Gi.
func renderedValues(version string) map[string]string {
	type value struct{ text, profile string }
	found := map[string][]value{}
	for _, profile := range []v1alpha1.Profile{v1alpha1.ProfileCache, v1alpha1.ProfileDurable} {
		for _, topology := range []v1alpha1.Topology{v1alpha1.TopologyCluster, v1alpha1.TopologyReplication} {
			for name, text := range settingsOf(version, topology, profile) {
				v := value{text, string(profile)}
				if !slices.Contains(found[name], v) {
					found[name] = append(found[name], v)
				}
			}
		}
	}
	out := map[string]string{}
	for name, values := range found {
		if len(values) == 2 && values[0].text == values[1].text {
			out[name] = values[0].text
			continue
		}
		var parts []string
		for _, v := range values {
			parts = append(parts, fmt.Sprintf("%s (%s)", v.text, v.profile))
		}
		out[name] = strings.Join(parts, ", ")
	}
	return out
}

// settingsOf are the directives in what is rendered for a cluster.
func settingsOf(version string, topology v1alpha1.Topology, profile v1alpha1.Profile) map[string]string {
	c := &v1alpha1.ValkeyCluster{}
	c.Name = "cache"
	c.Spec.Topology, c.Spec.Profile, c.Spec.Version = topology, profile, version
	if profile == v1alpha1.ProfileDurable {
		c.Spec.Storage = &v1alpha1.StorageSpec{}
	}
	c.Default()
	out := map[string]string{}
	live, errLive := conf.Live(c, version)
	server, errServer := conf.Server(c)
	if errLive != nil || errServer != nil {
		return out
	}
	for line := range strings.Lines(live + server) {
		name, text, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok || strings.HasPrefix(name, "#") {
			continue
		}
		if was, repeated := out[name]; repeated {
			text = was + "; " + text
		}
		out[name] = text
	}
	return out
}
