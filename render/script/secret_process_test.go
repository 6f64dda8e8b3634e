// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package script_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/valkey-render/valkey-render/render/script"
)

// Whatever bytes a password holds, the server gets exactly them, from a file that
// only its user can read, and neither its arguments nor its environment show them.
func TestProcessReplicationPasswordReachesTheServerUnchanged(t *testing.T) {
	t.Parallel()
	passwords := []string{"plain", password, `"`, `\`, `\x41`, "a\nb", "tab\there", "ends with newline\n", "#no comment", "'single'", "日本語 ☃", "\x01\x7f\xff\xfe"}
	eachShell(t, func(t *testing.T, shell string) {
		p := newPod(t, shell, "8.0", "Replication")
		for _, secret := range passwords {
			p.write("system/_replication.current", secret)
			p.write("system/_replication.next", "the next one")
			p.start()
			if got := p.do("CONFIG", "GET", "primaryauth"); got != "primaryauth "+secret {
				t.Errorf("%q instead of %q", got, secret)
			}
			if got := p.do("CONFIG", "GET", "primaryuser"); got != "primaryuser _replication" {
				t.Error(got)
			}
			for _, file := range []string{"cmdline", "environ"} {
				if len(secret) > 3 && strings.Contains(p.read(fmt.Sprintf("/proc/%d/%s", p.cmd.Process.Pid, file)), secret) {
					t.Errorf("%q is in the server's %s", secret, file)
				}
			}
			info, err := os.Stat(filepath.Join(p.root, "run/auth.conf"))
			must(t, err)
			if info.Mode().Perm() != 0o600 {
				t.Errorf("mode %o", info.Mode().Perm())
			}
			p.stop(9)
		}
	})
}

// Between "every server knows both" and "the old one is gone", one of the two files
// is right for any server, whatever the mount shows.
func TestProcessProbeDuringRotation(t *testing.T) {
	t.Parallel()
	eachShell(t, func(t *testing.T, shell string) {
		p := newPod(t, shell, "9.1", "Standalone")
		p.acl("9.1", "user default off\n")
		p.start()
		for _, step := range []struct {
			current, next string
			ready         int
		}{
			{password, "", 0}, {password, "new", 0}, {"old, dropped", password, 0}, {"old, dropped", "wrong too", 1}, {"old, dropped", "", 1},
		} {
			p.write("system/_operator.current", step.current)
			p.write("system/_operator.next", step.next)
			p.run(script.Probe, script.ProbeReadiness).expect(t, step.ready)
			r := p.run(script.Probe, script.ProbeLiveness)
			r.expect(t, 0)
			if step.ready != 0 {
				r.expect(t, 0, "alive, but", "WRONGPASS")
			}
		}
		// No password at all, as with a late Secret: the server lives, and says so.
		must(t, os.Remove(filepath.Join(p.root, "system/_operator.current")))
		p.run(script.Probe, script.ProbeLiveness).expect(t, 0, "alive, but", "NOAUTH")
		p.run(script.Probe, script.ProbeStartup).expect(t, 0)
	})
}

func TestProcessIPv6(t *testing.T) {
	t.Parallel()
	eachShell(t, func(t *testing.T, shell string) {
		primary, replica := newPod(t, shell, "9.1", "Replication"), newPod(t, shell, "9.1", "Replication")
		peers := ""
		for i, p := range []*pod{primary, replica} {
			p.ip = "::1"
			p.conf("")
			p.env[script.EnvPodIP] = "::1"
			p.env[script.EnvPodName] = "c-0-" + strconv.Itoa(i)
			p.env[script.EnvReplicas] = "1"
			p.args = append(p.args, "--replica-announce-ip", "::1")
			peers += " [::1]:" + strconv.Itoa(p.port)
		}
		primary.env[script.EnvPeers], replica.env[script.EnvPeers] = peers, peers
		primary.start()
		if got := primary.info("master_host"); got != "::1" {
			t.Errorf("fenced at %q", got)
		}
		primary.do("REPLICAOF", "NO", "ONE")
		primary.run(script.Probe, script.ProbeReadiness).expect(t, 0)
		replica.start()
		replica.awaitInfo("master_link_status", "up")
		if got := replica.info("master_host"); got != "::1" {
			t.Errorf("replica of %q", got)
		}
		replica.run(script.Probe, script.ProbeReadiness).expect(t, 0)
		primary.run(script.PreStop).expect(t, 0, "took over")
		replica.awaitInfo("role", "master")
	})
}

func TestProcessTLS(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	for _, mutual := range []string{"yes", "no", "optional"} {
		t.Run("clients="+mutual, func(t *testing.T) {
			eachShell(t, func(t *testing.T, shell string) {
				p := newPod(t, shell, "9.1", "Standalone")
				p.env[script.EnvTLS] = "yes"
				ca.issue(p)
				tls := filepath.Join(p.root, "tls")
				p.args = []string{"--dir", p.data, "--port", "0", "--tls-port", strconv.Itoa(p.port), "--aclfile", filepath.Join(p.root, "acl/9.1.acl")}
				p.conf("tls-auth-clients " + mutual + "\ntls-cert-file " + tls + "/tls.crt\ntls-key-file " + tls + "/tls.key\ntls-ca-cert-file " + tls + "/ca.crt\n")
				p.launch(p.args...)
				var r result
				for range 50 {
					if r = p.run(script.Probe, script.ProbeReadiness); r.code == 0 {
						break
					}
				}
				r.expect(t, 0)
				p.run(script.Probe, script.ProbeLiveness).expect(t, 0)
				// A client that does not trust the server has no answer.
				newAuthority(t).issue(p)
				p.run(script.Probe, script.ProbeLiveness).expect(t, 1, "liveness: ")
			})
		})
	}
}
