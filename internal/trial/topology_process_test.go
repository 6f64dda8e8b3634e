// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/valkey-render/valkey-render/internal/servertest"
)

// durables are a cluster of each topology that keeps its data, with everything that
// guards it.
var durables = map[string]struct{ spec, roles string }{
	"Standalone": {`
apiVersion: valkey-render.dev/v1alpha1
kind: ValkeyCluster
metadata: {name: one}
spec:
  topology: Standalone
  profile: Durable
  storage: {size: 1Gi}
`, "primary 1"},
	"Replication": {`
apiVersion: valkey-render.dev/v1alpha1
kind: ValkeyCluster
metadata: {name: pair}
spec:
  topology: Replication
  profile: Durable
  replicas: 2
  storage: {size: 1Gi}
  tls: {secretName: own, clientAuth: Optional}
`, "primary 1, replica 1"},
	"Sentinel": {`
apiVersion: valkey-render.dev/v1alpha1
kind: ValkeyCluster
metadata: {name: queue}
spec:
  topology: Sentinel
  profile: Durable
  replicas: 2
  storage: {size: 1Gi}
  auth: {existingSecret: {name: elsewhere, key: pw}}
`, "primary 1, replica 1, sentinel 3"},
	"Cluster": {`
apiVersion: valkey-render.dev/v1alpha1
kind: ValkeyCluster
metadata: {name: vault}
spec:
  profile: Durable
  shards: 3
  replicasPerShard: 1
  storage: {size: 1Gi}
  tls: {issuerRef: {name: ca}, clientAuth: Required}
  users:
  - name: app
    commands: {allow: ["@all"]}
    keys: {readWrite: ["*"]}
`, "primary 3, replica 3"},
}

// TestProcessEveryTopologyComesUpAndComesBack: ready, takes writes, and after an orderly
// end goes on with its data, passwords and certificates.
func TestProcessEveryTopologyComesUpAndComesBack(t *testing.T) {
	t.Parallel()
	for topology, c := range durables {
		for _, version := range servertest.Sample(t) {
			t.Run(topology+"/"+version, func(t *testing.T) {
				t.Parallel()
				r := rendered(t, parse(t, c.spec), version)
				a := begin(t, version, r)
				if got := a.roles(); got != c.roles {
					t.Fatalf("%s, not %s", got, c.roles)
				}
				if got := a.everywhere("INFO", "server"); !strings.Contains(got, "valkey_version:"+version) {
					t.Errorf("not a server of %s: %s", version, got)
				}
				a.write("first")
				before := a.Connection(a.context())
				if err := a.Close(true); err != nil {
					t.Fatal(err)
				}
				a.again(r)
				if got := a.roles(); got != c.roles {
					t.Errorf("once more: %s, not %s", got, c.roles)
				}
				a.has("first")
				a.write("second")
				if after := a.Connection(a.context()); after.PasswordFile != before.PasswordFile || after.password != before.password {
					t.Error("the password is another one")
				}
			})
		}
	}
}

// TestProcessClientsWithoutTheirCredentialsAreRefused: what guards the rendered cluster
// guards the one that is tried.
func TestProcessClientsWithoutTheirCredentialsAreRefused(t *testing.T) {
	t.Parallel()
	a := begin(t, "9.1", rendered(t, parse(t, durables["Cluster"].spec), "9.1"))
	c := a.Connection(a.context())
	none := c
	none.CertFile, none.KeyFile = "", ""
	conn, err := none.dial(c.Primary)
	if err == nil {
		// With TLS 1.3 the refusal comes after the handshake.
		_, err = conn.Do("PING")
	}
	if err == nil {
		t.Error("a client without certificate is let in")
	}
	if conn, err = c.dial(c.Primary); err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Do("GET", "k"); err == nil || !strings.Contains(err.Error(), "NOAUTH") {
		t.Errorf("without a password: %v", err)
	}
	for _, file := range []string{c.PasswordFile, c.KeyFile, filepath.Join(a.opts.Dir, "secrets", "vault-users", "app")} {
		info, err := os.Stat(file)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", file, info, err)
		}
	}
	if strings.Contains(c.Command, c.password) {
		t.Errorf("a password in a command: %s", c.Command)
	}
}

// TestProcessExamplesComeUp runs what the examples render to.
func TestProcessExamplesComeUp(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../examples/*/cluster.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		name := filepath.Base(filepath.Dir(file))
		if name == "modules" {
			continue // see TestModulesNeedTheirFiles
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			set := parse(t, string(text))
			version := set.Clusters[0].Object.ServerVersion()
			if version == "9.0" {
				version = "9.1" // 9.0 has no server here
			}
			a := begin(t, version, rendered(t, set, version))
			a.write("key")
			a.has("key")
			if got := a.roles(); strings.Contains(got, "unknown") {
				t.Error(got)
			}
		})
	}
}
