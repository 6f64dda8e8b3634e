// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package script_test

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/valkey-render/valkey-render/internal/servertest"
	"github.com/valkey-render/valkey-render/render/script"
)

// withLock gives a pod flock(1), which images may have and the scripts can do without.
func (p *pod) withLock() {
	p.t.Helper()
	program, err := exec.LookPath("flock")
	must(p.t, err)
	must(p.t, os.Symlink(program, filepath.Join(p.bin, "flock")))
}

// sharing is a pod that was given the volume of another one.
func sharing(t *testing.T, shell, topology string, other *pod) *pod {
	t.Helper()
	p := newPod(t, shell, "9.1", topology)
	p.withLock()
	p.data = other.data
	p.env["VALKEY_DATA"] = other.data
	p.args[1] = other.data
	return p
}

// contents are the files of the data directory that a server writes.
func contents(t *testing.T, p *pod) string {
	t.Helper()
	var all strings.Builder
	for _, name := range []string{"nodes.conf", "sentinel.conf"} {
		text, err := os.ReadFile(filepath.Join(p.data, name))
		if err == nil {
			all.Write(text)
		}
	}
	return all.String()
}

// A pod that is deleted by force may run on while its successor starts on the same volume.
func TestProcessOneServerToADirectory(t *testing.T) {
	t.Parallel()
	for _, topology := range []string{"Cluster", "Standalone"} {
		t.Run(topology, func(t *testing.T) {
			t.Parallel()
			eachShell(t, func(t *testing.T, shell string) {
				first := newPod(t, shell, "9.1", topology)
				first.withLock()
				if topology == "Cluster" {
					first.conf("cluster-enabled yes\n")
				}
				first.start()
				before := contents(t, first)

				second := sharing(t, shell, topology, first)
				if topology == "Cluster" {
					second.conf("cluster-enabled yes\n")
				}
				r := second.run(script.Start, second.args...)
				r.expect(t, 1, "waiting for another server to leave this directory", "another server has this directory; refusing to start")
				if after := contents(t, first); after != before {
					t.Errorf("files were changed below a server that runs:\n%s\nbefore:\n%s", after, before)
				}

				// It waits for a server that is on its way out, however that ends.
				second.launch(second.args...)
				eventually(t, "it says that it waits", func() bool { return strings.Contains(second.log.String(), "waiting for another server") })
				first.stop(syscall.SIGKILL)
				second.await("PING", func(r string) bool { return r == "PONG" })
			})
		})
	}
}

// start.sh alone is killed, as the kernel may do when memory is short: the server that
// converts for it lives on, and the next start must get as far as ending it: 30 s later it gives up.
func TestProcessLockOutlivesNoConversion(t *testing.T) {
	t.Parallel()
	eachShell(t, func(t *testing.T, shell string) {
		p := newPod(t, shell, "9.1", "Standalone")
		p.withLock()
		p.mode("both")
		p.start()
		p.store("k")
		p.ready()
		p.stop(syscall.SIGKILL)
		must(t, os.RemoveAll(filepath.Join(p.data, "dump.rdb")))
		p.mode("rdb")
		client := servertest.Program(t, "9.1", "valkey-cli")
		p.fake("valkey-cli", `case "$*" in
*' SAVE') cd "`+p.bin+`"; : >saving; while [ -e saving ]; do sleep 0.1; done; exit 1 ;;
esac
exec `+client+` "$@"
`)
		saving := filepath.Join(p.bin, "saving")
		t.Cleanup(func() { _ = os.Remove(saving) })
		p.launch(p.args...)
		eventually(t, "the data is being converted", func() bool { return p.exists(saving) })
		p.stop(syscall.SIGKILL)
		p.fake("valkey-cli", "exec "+client+` "$@"`+"\n")
		p.start()
		if missing := p.stored("k"); missing != "" {
			t.Errorf("lost %s\n%s", missing, p.log)
		}
	})
}

// The same while a server stands in for one that lost its data: it has the port of the
// bus as well.
func TestProcessLockOutlivesNoStandIn(t *testing.T) {
	t.Parallel()
	eachShell(t, func(t *testing.T, shell string) {
		p := newPod(t, shell, "9.1", "Cluster")
		p.withLock()
		p.conf("cluster-enabled yes\n")
		p.set(map[string]string{script.EnvNodeTimeout: "60000", script.EnvPeers: "127.0.0.1:1"})
		must(t, os.WriteFile(filepath.Join(p.data, "nodes.conf"), []byte(primary+myCopy+vars), 0o600))
		socket := filepath.Join(p.root, "run/stand-in/s")
		bus := net.JoinHostPort(p.ip, strconv.Itoa(p.port+10000))
		listens := func() bool {
			conn, err := net.DialTimeout("tcp", bus, time.Second)
			if err == nil {
				_ = conn.Close()
			}
			return err == nil
		}
		var before os.FileInfo
		for i := range 3 {
			p.launch(p.args...)
			eventually(t, "a server stands in", func() bool {
				now, err := os.Stat(socket)
				if err != nil || os.SameFile(before, now) || !listens() {
					return false
				}
				before = now
				return true
			})
			if i < 2 {
				p.stop(syscall.SIGKILL)
			}
		}
		p.stop(syscall.SIGTERM)
		eventually(t, "nobody stands in any more", func() bool { return !listens() })
	})
}

// Where nothing can be locked, servers start as they would without.
func TestProcessADirectoryThatCannotBeLocked(t *testing.T) {
	t.Parallel()
	eachShell(t, func(t *testing.T, shell string) {
		p := newPod(t, shell, "9.1", "Standalone")
		p.fake("flock", "echo 'flock: 8: No locks available' >&2; exit 71\n")
		p.start()
		if !strings.Contains(p.log.String(), "lock: cannot be locked (flock: 8: No locks available)") {
			t.Errorf("it is not said that there is no lock:\n%s", p.log)
		}
	})
}
