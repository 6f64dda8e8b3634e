// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package script_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/valkey-render/valkey-render/render/script"
)

// The tests here put programs of their own in the way, which busybox's shell would
// not call: it holds them itself.

// stopAt makes start.sh stand still before its n-th call of a program that changes
// files, or of the client: the file "reached" then exists.
func (p *pod) stopAt(n int) {
	p.t.Helper()
	for _, name := range []string{"mv", "ln", "mkdir", "rm", "sync", "valkey-cli"} {
		link, err := os.Readlink(filepath.Join(p.bin, name))
		if err != nil {
			link = p.read(filepath.Join(p.bin, name+".real"))
		}
		must(p.t, os.WriteFile(filepath.Join(p.bin, name+".real"), []byte(link), 0o600))
		p.fake(name, `cd "`+p.bin+`"
n=0
read -r n <calls
n=$((n + 1))
echo $n >calls
if [ $n = `+strconv.Itoa(n)+` ]; then
	: >reached
	while [ -e reached ]; do sleep 0.05; done
	exit 1
fi
cd - >/dev/null
exec `+link+` "$@"
`)
	}
	must(p.t, os.WriteFile(filepath.Join(p.bin, "calls"), []byte("0\n"), 0o600))
}

// A kill before every single step of a conversion: the next start ends where one
// without a kill does, even when the server of the former is alive still.
func TestProcessPersistKilledAnywhere(t *testing.T) {
	t.Parallel()
	for i, change := range []string{"rdb aof", "both rdb"} {
		for _, start := range []int{0, 1} {
			t.Run(change+" "+strconv.Itoa(start), func(t *testing.T) {
				t.Parallel()
				from, to, _ := strings.Cut(change, " ")
				p := newPod(t, "dash", []string{"8.0", "9.1"}[i], "Standalone")
				p.mode(from)
				p.start()
				p.store("k")
				p.ready()
				p.stop(map[string]syscall.Signal{"rdb": syscall.SIGTERM, "both": syscall.SIGKILL}[from])
				if from == "both" {
					must(t, os.RemoveAll(filepath.Join(p.data, "dump.rdb")))
				}
				p.mode(to)
				before := p.data + ".before"
				copyTree(t, p.data, before)
				// Two tests share the steps: the odd ones and the even ones.
				kills := 0
				for n := 1 + start; ; n += 2 {
					must(t, os.RemoveAll(p.data))
					copyTree(t, before, p.data)
					p.stopAt(n)
					p.launch(p.args...)
					if !p.killedAtStop() {
						p.stop(syscall.SIGTERM)
						break
					}
					kills++
					p.stopAt(0)
					p.start()
					if missing := p.stored("k"); missing != "" {
						t.Fatalf("killed before step %d: lost %s\n%s", n, missing, p.log)
					}
					p.stop(syscall.SIGTERM)
				}
				t.Logf("%d kills", kills)
				if kills < 5 {
					t.Error("hardly any step was hit")
				}
			})
		}
	}
}

// killedAtStop kills start.sh where stopAt made it stand; false when the server
// was ready without.
func (p *pod) killedAtStop() bool {
	p.t.Helper()
	reached := filepath.Join(p.bin, "reached")
	hit := false
	eventually(p.t, "start.sh stands still or the server is ready", func() bool {
		hit = p.exists(reached)
		return hit || p.do("PING") == "PONG"
	})
	if hit {
		p.stop(syscall.SIGKILL)
		must(p.t, os.Remove(reached))
		time.Sleep(100 * time.Millisecond)
	}
	return hit
}

func copyTree(t testing.TB, from, to string) {
	t.Helper()
	if out, err := exec.Command("cp", "-a", from, to).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// As process 1 a shell ignores signals that it does not trap.
func TestProcessPersistEndsOnSIGTERM(t *testing.T) {
	t.Parallel()
	eachShell(t, func(t *testing.T, shell string) {
		p := newPod(t, shell, "9.1", "Standalone")
		p.mode("aof")
		p.start()
		for i := range 300 {
			wantOK(t, p.do("SET", strconv.Itoa(i), "x"))
		}
		p.stop(syscall.SIGTERM)
		p.mode("rdb")
		slow := p.args
		p.args = append(append([]string{}, slow...), "--key-load-delay", "50000")
		p.launch(p.args...)
		eventually(t, "the conversion runs", func() bool { return p.exists(filepath.Join(p.root, "run/convert")) })
		begin := time.Now()
		p.stop(syscall.SIGTERM)
		if took := time.Since(begin); took > 7*time.Second || p.cmd.ProcessState.ExitCode() != 143 {
			t.Errorf("took %s, exit code %d\n%s", took, p.cmd.ProcessState.ExitCode(), p.log)
		}
		p.nothingLeft()
		p.args = slow
		p.start()
		if p.do("DBSIZE") != "300" {
			t.Errorf("%s keys\n%s", p.do("DBSIZE"), p.log)
		}
	})
}

// Each of these would otherwise end in a server without the data.
func TestProcessPersistRefusesToLoseData(t *testing.T) {
	t.Parallel()
	const empty, without = "refusing to start an empty server", "refusing to start without its data"
	cases := []struct {
		name, from, to string
		broken         func(p *pod)
		words          string
	}{
		{"no second name and no space for a copy", "rdb", "aof", func(p *pod) {
			cat, err := os.Readlink(filepath.Join(p.bin, "cat"))
			must(p.t, err)
			p.fake("ln", "exit 1\n")
			p.fake("cat", `case "$1" in */dump.rdb) echo REDIS; exit 1 ;; esac`+"\nexec "+cat+` "$@"`+"\n")
		}, empty},
		{"no directory", "rdb", "both", func(p *pod) { p.fake("mkdir", `[ "$1" = -p ]`+"\n") }, empty},
		{"the save fails", "aof", "rdb", func(p *pod) {
			cli, err := os.Readlink(filepath.Join(p.bin, "valkey-cli"))
			must(p.t, err)
			p.fake("valkey-cli", `[ "$3" != SAVE ] || { echo ERR; exit 0; }`+"\nexec "+cli+` "$@"`+"\n")
		}, without},
		{"the AOF cannot be read", "aof", "rdb", func(p *pod) {
			manifest := filepath.Join(p.data, "appendonlydir/appendonly.aof.manifest")
			must(p.t, os.WriteFile(manifest, nil, 0o600))
		}, without},
	}
	for _, c := range cases {
		p := newPod(t, "dash", "8.1", "Standalone")
		p.mode(c.from)
		p.start()
		p.store("k")
		p.stop(syscall.SIGTERM)
		p.mode(c.to)
		saved, before := p.bin+".saved", p.data+".before"
		copyTree(t, p.bin, saved)
		copyTree(t, p.data, before)
		c.broken(p)
		p.refused(c.name, c.words)

		// The reason gone, all is there.
		must(t, os.RemoveAll(p.bin))
		must(t, os.Rename(saved, p.bin))
		if c.name == "the AOF cannot be read" {
			must(t, os.RemoveAll(p.data))
			must(t, os.Rename(before, p.data))
		}
		p.start()
		if missing := p.stored("k"); missing != "" {
			t.Errorf("%s: lost %s\n%s", c.name, missing, p.log)
		}
		p.stop(syscall.SIGTERM)
	}
}

// refused starts the pod and expects it to end with these words.
func (p *pod) refused(what string, words ...string) {
	p.t.Helper()
	p.launch(p.args...)
	select {
	case <-p.exited:
	case <-time.After(20 * time.Second):
		p.t.Fatalf("%s: still running:\n%s", what, p.log)
	}
	result{code: p.cmd.ProcessState.ExitCode(), out: p.log.String()}.expect(p.t, 1, words...)
}

// fillUp leaves a quarter of a megabyte.
func fillUp(path string) {
	size := 0
	for size < 8<<20 && os.WriteFile(path, make([]byte, size), 0o600) == nil {
		size += 32 << 10
	}
	_ = os.WriteFile(path, make([]byte, max(0, size-288<<10)), 0o600)
}

// A real full disk, where the test may make one.
func TestProcessPersistOnAFullDisk(t *testing.T) {
	t.Parallel()
	p := newPod(t, "dash", "9.1", "Standalone")
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", p.data).CombinedOutput(); err != nil {
		t.Logf("no small disk to be had, so it is a file size limit: %v %s", err, out)
		p.shell = append([]string{"/bin/sh", "-c", `trap '' XFSZ; ulimit -f 1000; exec "$0" "$@"`}, p.shell...)
	} else {
		t.Cleanup(func() { _ = exec.Command("umount", "-l", p.data).Run() })
	}
	p.mode("aof")
	p.start()
	for i := range 12 {
		wantOK(t, p.do("EVAL", "math.randomseed(ARGV[1]); local t = {}; for i = 1, 100000 do t[i] = string.char(math.random(0, 255)) end; return redis.call('SET', KEYS[1], table.concat(t))", "1", strconv.Itoa(i), strconv.Itoa(i)))
	}
	p.stop(syscall.SIGTERM)
	p.mode("rdb")
	filler := filepath.Join(p.data, "filler")
	fillUp(filler)
	for range 2 {
		p.refused("full disk", "the server could not save it (disk full?)", "refusing to start without its data")
	}
	must(t, os.Remove(filler))
	p.start()
	if p.do("DBSIZE") != "12" {
		t.Errorf("%s keys\n%s", p.do("DBSIZE"), p.log)
	}
	p.stop(syscall.SIGTERM)

	// The other way takes no space.
	p.mode("aof")
	fillUp(filler)
	p.start()
	if p.do("DBSIZE") != "12" {
		t.Errorf("%s keys\n%s", p.do("DBSIZE"), p.log)
	}
}

// Files that are older than what the last server had in memory do not meet the
// pods that have it still.
func TestPersistAfterNothingWasKept(t *testing.T) {
	for replicas, kept := range map[string]bool{"0": true, "1": false} {
		p := newPod(t, "dash", "9.1", "Cluster")
		p.mode("rdb")
		p.fake("valkey-server", `echo ">>> 'valkey-render-end-of-check"`+"\n")
		p.env[script.EnvReplicas] = replicas
		p.env[script.EnvPeers] = "127.0.0.1:1"
		must(t, os.MkdirAll(filepath.Join(p.data, ".valkey-render"), 0o700))
		must(t, os.WriteFile(filepath.Join(p.data, ".valkey-render/persist"), []byte("none\n"), 0o600))
		must(t, os.WriteFile(filepath.Join(p.data, "dump.rdb"), []byte("x"), 0o600))
		for range 2 {
			p.run(script.Start, p.args...).expect(t, 0)
			if p.exists(filepath.Join(p.data, "dump.rdb")) != kept || p.exists(filepath.Join(p.data, "dump.rdb.unkept")) == kept {
				t.Errorf("%s replicas: the file was not as it should be", replicas)
			}
		}
		if got := p.read(filepath.Join(p.data, ".valkey-render/persist")); got != "rdb\n" {
			t.Errorf("the record is %q", got)
		}
	}
}
