// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package conf

import (
	"strings"
	"testing"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
)

func TestTextEndsWithMarker(t *testing.T) {
	c := &v1alpha1.ValkeyCluster{}
	c.Spec.Topology = v1alpha1.TopologyCluster
	c.Spec.Profile = v1alpha1.ProfileCache
	c.Spec.Version = "9.1"
	server, err := Server(c)
	if err != nil || !strings.HasSuffix(server, ServerMarker+"\n") {
		t.Errorf("Server = %q, %v", server, err)
	}
	live, err := Live(c, "8.0")
	if err != nil || !strings.HasSuffix(live, LiveMarker("8.0")+"\n") {
		t.Errorf("Live = %q, %v", live, err)
	}
}
