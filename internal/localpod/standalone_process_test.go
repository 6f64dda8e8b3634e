// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package localpod_test

import (
	"strings"
	"testing"

	"github.com/valkey-render/valkey-render/internal/servertest"
)

const standalone = `
apiVersion: valkey-render.dev/v1alpha1
kind: ValkeyCluster
metadata: {name: one}
spec:
  topology: Standalone
  profile: Durable
  storage: {size: 1Gi}
  auth: {enabled: true}
`

func TestProcessStandaloneKeepsItsData(t *testing.T) {
	t.Parallel()
	for _, version := range servertest.Sample(t) {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, version, spec(t, standalone))
			r.await()
			if got := r.client("one-0-0", "SET", "k", "v"); got != "OK" {
				t.Fatal(got)
			}
			if info := r.client("one-0-0", "INFO", "server"); !strings.Contains(info, "valkey_version:"+version) {
				t.Errorf("not a server of %s: %s", version, info)
			}
			p := r.Pod("one-0-0")
			must(t, p.Restart(r.context()))
			r.await()
			if got := r.client("one-0-0", "GET", "k"); got != "v" {
				t.Errorf("after a restart of the container: %s", got)
			}
			must(t, p.Delete(r.context()))
			if p.Running() {
				t.Error("runs after it was deleted")
			}
			must(t, p.Start())
			r.await()
			if got := r.client("one-0-0", "GET", "k"); got != "v" {
				t.Errorf("in a new pod: %s", got)
			}
		})
	}
}
