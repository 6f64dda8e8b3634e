// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package script_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/valkey-render/valkey-render/render/script"
)

func (p *pod) accepted() string { return p.read(filepath.Join(p.data, ".valkey-render/live.accepted")) }

// wantAccepted: a start would fall back to a live file with that line.
func (p *pod) wantAccepted(line string) {
	p.t.Helper()
	if got := p.accepted(); !strings.Contains(got, line) {
		p.t.Errorf("accepted is %q, without %q", got, line)
	}
}

func (p *pod) tried() string { return p.read(filepath.Join(p.data, ".valkey-render/live.tried")) }

// wantMemory fails unless the server runs with this maxmemory.
func (p *pod) wantMemory(want string) {
	p.t.Helper()
	if got := p.do("CONFIG", "GET", "maxmemory"); got != "maxmemory "+want {
		p.t.Errorf("%s instead of %s\n%s", got, want, p.log)
	}
}

func TestProcessLiveFileThatTheServerRefuses(t *testing.T) {
	t.Parallel()
	eachShell(t, func(t *testing.T, shell string) {
		for _, version := range []string{"8.0", "8.1", "9.1"} {
			p := newPod(t, shell, version, "Standalone")
			p.live("maxmemory 1000000\n")
			p.start()
			if p.accepted() != "" {
				t.Error("a file counts as accepted before the server answered")
			}
			p.run(script.Probe, script.ProbeStartup).expect(t, 0)
			if !strings.Contains(p.accepted(), "maxmemory 1000000\n") || p.tried() != "" {
				t.Errorf("accepted %q, tried %q", p.accepted(), p.tried())
			}
			p.stop(syscall.SIGTERM)

			// Refused while parsing: noticed before the start.
			p.live("maxmemory 2000000\nmaxmemory-policy some\n")
			p.start()
			p.wantMemory("1000000")
			if !strings.Contains(p.log.String(), "refused by the server") || !strings.Contains(p.log.String(), "last accepted copy") {
				t.Errorf("the reason is not said:\n%s", p.log)
			}
			p.run(script.Probe, script.ProbeLiveness).expect(t, 0)
			p.wantAccepted("maxmemory 1000000\n")
			p.stop(syscall.SIGTERM)

			// Refused after parsing: noticed at the third start.
			p.live("maxmemory 2000000\nlocale-collate xx_YY\n")
			for range 2 {
				p.run(script.Start, p.args...).expect(t, 1, "locale")
			}
			p.start()
			p.wantMemory("1000000")
			p.stop(syscall.SIGTERM)

			// Emptied.
			p.write("live/"+script.LiveFile(version), "")
			p.start()
			p.wantMemory("1000000")
			p.stop(syscall.SIGTERM)

			// Repaired.
			p.live("maxmemory 3000000\n")
			p.start()
			p.wantMemory("3000000")
			p.run(script.Probe, script.ProbeReadiness).expect(t, 0)
			p.wantAccepted("maxmemory 3000000\n")
		}
	})
}

// A container that is killed before its first probe must not lose a good file;
// one that dies twice without an answer is not tried a third time.
func TestProcessLiveFileThatNeverAnswered(t *testing.T) {
	t.Parallel()
	eachShell(t, func(t *testing.T, shell string) {
		p := newPod(t, shell, "9.1", "Standalone")
		p.live("maxmemory 1000000\n")
		p.start()
		p.run(script.Probe, script.ProbeStartup).expect(t, 0)
		p.stop(syscall.SIGKILL)
		p.live("maxmemory 2000000\n")
		p.start()
		p.stop(syscall.SIGKILL)
		p.start()
		p.wantMemory("2000000")
		p.stop(syscall.SIGKILL)
		p.start()
		p.wantMemory("1000000")
		p.run(script.Probe, script.ProbeStartup).expect(t, 0)
		// The answer says nothing of the file that this server was not started with.
		p.wantAccepted("maxmemory 1000000\n")
		p.stop(syscall.SIGKILL)
		// Another template is another attempt: it may have been the culprit.
		p.conf("maxclients 100\n")
		p.start()
		p.wantMemory("2000000")
		p.run(script.Probe, script.ProbeStartup).expect(t, 0)
		p.wantAccepted("maxmemory 2000000\n")
	})
}

// The ConfigMap may be newer than what was started when the probe comes.
func TestProcessLiveFileChangedBeforeTheProbe(t *testing.T) {
	t.Parallel()
	eachShell(t, func(t *testing.T, shell string) {
		p := newPod(t, shell, "9.1", "Standalone")
		p.live("maxmemory 1000000\n")
		p.start()
		p.live("maxmemory-polcy x\n")
		p.run(script.Probe, script.ProbeStartup).expect(t, 0)
		p.wantAccepted("maxmemory 1000000\n")
	})
}

func TestProcessLiveCopyOfAnotherVersionOrCutShortIsNone(t *testing.T) {
	t.Parallel()
	eachShell(t, func(t *testing.T, shell string) {
		p := newPod(t, shell, "9.1", "Standalone")
		must(t, os.MkdirAll(filepath.Join(p.data, ".valkey-render"), 0o700))
		for _, text := range []string{"maxmemory 1\n# valkey-render: end of 8.1.conf\n", "maxmemory 1\n# valkey-render: end of 9"} {
			must(t, os.WriteFile(filepath.Join(p.data, ".valkey-render/live.accepted"), []byte(text), 0o600))
			p.write("live/9.1.conf", "")
			p.run(script.Start, p.args...).expect(t, 1, "live/9.1.conf: does not end with", "no accepted copy")
		}
	})
}

// Without a memory of what was accepted a server starts all the same. A file in
// the directory's place fails like an unwritable or full volume, also for root.
func TestProcessUnwritableMemoryDoesNotKeepTheServerFromStarting(t *testing.T) {
	t.Parallel()
	eachShell(t, func(t *testing.T, shell string) {
		for _, topology := range []string{"Standalone", "Cluster", "Replication"} {
			p := newPod(t, shell, "9.1", topology)
			must(t, os.WriteFile(filepath.Join(p.data, ".valkey-render"), nil, 0o600))
			if topology == "Cluster" {
				p.args = append(p.args, "--cluster-enabled", "yes", "--cluster-config-file", filepath.Join(p.data, "nodes.conf"))
			}
			p.start()
			p.wantMemory("104857600")
			p.run(script.Probe, script.ProbeReadiness).expect(t, 0)
			if !strings.Contains(p.log.String(), "live.tried: cannot be written") {
				t.Errorf("%s: not said:\n%s", topology, p.log)
			}
		}
	})
}
