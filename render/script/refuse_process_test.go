// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package script_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/valkey-render/valkey-render/render/script"
)

// An emptied projection, or a variable that did not expand, would start another
// server than the rendered one.
func TestProcessStartRefuses(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		change func(p *pod)
		want   string
	}{
		{"emptied valkey.conf", func(p *pod) { p.write("config/valkey.conf", "") }, "config/valkey.conf: does not end with"},
		{"valkey.conf cut short", func(p *pod) { p.write("config/valkey.conf", "port 1\n# valkey-render: end of valkey") }, "config/valkey.conf: does not end with"},
		{"missing valkey.conf", func(p *pod) { os.Remove(filepath.Join(p.root, "config/valkey.conf")) }, "config/valkey.conf: does not end with"},
		{"empty ACL file", func(p *pod) { p.write("acl/9.1.acl", "") }, "acl/9.1.acl: missing or empty"},
		{"missing ACL file", func(p *pod) { os.Remove(filepath.Join(p.root, "acl/9.1.acl")) }, "acl/9.1.acl: missing or empty"},
		{"ACL file without the default user", func(p *pod) { p.acl("9.1", "") }, "no line 'user default"},
		{"empty pod IP", func(p *pod) { p.env[script.EnvPodIP] = "" }, "POD_IP is empty"},
		{"unexpanded argument", func(p *pod) { p.args = append(p.args, "--replica-announce-ip", "$(POD_IP)") }, "'$(POD_IP)' holds a variable"},
		{"missing TLS key", func(p *pod) {
			p.env[script.EnvTLS] = "yes"
			p.write("tls/ca.crt", "x")
			p.write("tls/tls.crt", "x")
		}, "tls/tls.key: missing or empty"},
		{"emptied password", func(p *pod) { p.write("system/_replication.current", "") }, "system/_replication.current: missing or empty"},
		{"emptied live file and nothing accepted", func(p *pod) { p.write("live/9.1.conf", "") }, "live/9.1.conf: does not end with"},
		{"unknown number of pods", func(p *pod) { delete(p.env, script.EnvReplicas) }, "live/members: does not end with its marker"},
		{"emptied list of pods", func(p *pod) {
			delete(p.env, script.EnvReplicas)
			p.write("live/members", "")
		}, "live/members: does not end with its marker"},
		{"unknown topology", func(p *pod) { p.env[script.EnvTopology] = "Ring" }, "VALKEY_TOPOLOGY is 'Ring'"},
	}
	eachShell(t, func(t *testing.T, shell string) {
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				p := newPod(t, shell, "9.1", "Cluster")
				c.change(p)
				r := p.run(script.Start, p.args...)
				r.expect(t, 1, "valkey-render: ", c.want)
				if strings.Contains(r.out, "Server initialized") {
					t.Error("a server was started")
				}
			})
		}
	})
}

func TestProcessStandaloneStartsWithoutRoleOrReplicationPassword(t *testing.T) {
	t.Parallel()
	eachShell(t, func(t *testing.T, shell string) {
		p := newPod(t, shell, "9.1", "Standalone")
		must(t, os.Remove(filepath.Join(p.root, "system/_replication.current")))
		p.start()
		if got := p.do("ROLE"); !strings.HasPrefix(got, "master") {
			t.Errorf("role %s", got)
		}
		if got := p.do("CONFIG", "GET", "maxmemory"); got != "maxmemory 104857600" {
			t.Errorf("the live file is not in effect: %s", got)
		}
		p.run(script.Probe, script.ProbeReadiness).expect(t, 0)
	})
}
