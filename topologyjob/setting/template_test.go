// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package setting

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/conf"
)

// TestNoDefaultIsGivenBackThatTheTemplateChanges: what valkey.conf and the arguments of a
// server say is no difference to the live file, and what the live file says is read.
func TestNoDefaultIsGivenBackThatTheTemplateChanges(t *testing.T) {
	for _, topology := range []v1alpha1.Topology{v1alpha1.TopologyCluster, v1alpha1.TopologyReplication, v1alpha1.TopologySentinel, v1alpha1.TopologyStandalone} {
		for _, profile := range []v1alpha1.Profile{v1alpha1.ProfileCache, v1alpha1.ProfileDurable} {
			for _, version := range v1alpha1.Versions() {
				c := &v1alpha1.ValkeyCluster{}
				c.Name, c.Spec.Topology, c.Spec.Profile, c.Spec.Version, c.Spec.TLS = "c", topology, profile, version, &v1alpha1.TLSSpec{}
				c.Default()
				live, err := conf.Live(c, version)
				if err != nil {
					t.Fatal(err)
				}
				wanted, err := ParseLive(version, live)
				if err != nil {
					t.Fatal(err)
				}
				text, err := conf.Server(c)
				if err != nil {
					t.Fatal(err)
				}
				for line := range strings.Lines(strings.ReplaceAll(text+strings.Join(conf.Args(c), "\n"), "\n--", "\n")) {
					name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
					if slices.Contains(LiveNames(version, nil), name) {
						t.Error(fmt.Sprint(topology, profile, version), name, "is set by the template")
					}
				}
				if len(wanted) == 0 {
					t.Error(topology, "has no live directive")
				}
			}
		}
	}
}
