// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package script_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/valkey-render/valkey-render/internal/servertest"
	"github.com/valkey-render/valkey-render/render/script"
)

// programs are all that the scripts may call besides valkey-server and valkey-cli:
// both in coreutils and in busybox. A test's PATH holds nothing else.
func programs() []string {
	return []string{"cat", "head", "ln", "mkdir", "mv", "od", "rm", "sha1sum", "sleep", "stat", "sync", "tail", "timeout", "tr"}
}

// shells are the two that the images have.
func shells() []string { return []string{"dash", "busybox"} }

// eachShell runs a test once with each shell, a short one with one of them.
func eachShell(t *testing.T, run func(t *testing.T, shell string)) {
	t.Helper()
	for _, shell := range servertest.Share(t, shells()) {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			run(t, shell)
		})
	}
}

// pod is a container's file system and environment below one directory.
type pod struct {
	t     testing.TB
	shell []string
	root  string // VALKEY_ROOT
	data  string // VALKEY_DATA
	bin   string // PATH
	ip    string
	port  int
	plain int // the port that the test speaks to, when port speaks TLS
	env   map[string]string
	args  []string

	cmd    *exec.Cmd
	log    *lockedBuffer
	exited chan struct{}
}

type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// password is one that every layer between the Secret and the server could break.
const password = ` p"a's\s w$(id)` + "`x`" + `ö%d#é{}*? `

// newPod lays out a pod of a version whose server would listen on ip at a free port.
func newPod(t testing.TB, shell, version, topology string) *pod {
	t.Helper()
	// persist.sh makes a unix socket: a path with the test's name in it is too long.
	dir, err := os.MkdirTemp("", "pod")
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	p := &pod{t: t, root: filepath.Join(dir, "valkey"), data: filepath.Join(dir, "data"), bin: filepath.Join(dir, "bin"), ip: "127.0.0.1"}
	p.shell = []string{servertest.Tool(t, shell)}
	if shell == "busybox" {
		p.shell = append(p.shell, "sh")
	}
	for _, sub := range []string{"scripts", "config", "live", "acl", "system", "tls", "run"} {
		must(t, os.MkdirAll(filepath.Join(p.root, sub), 0o700))
	}
	must(t, os.MkdirAll(p.data, 0o700))
	must(t, os.MkdirAll(p.bin, 0o700))
	for _, name := range programs() {
		target := servertest.Tool(t, "busybox")
		if shell != "busybox" {
			found, err := exec.LookPath(name)
			must(t, err)
			target = found
		}
		must(t, os.Symlink(target, filepath.Join(p.bin, name)))
	}
	for _, name := range []string{"valkey-server", "valkey-cli"} {
		must(t, os.Symlink(servertest.Program(t, version, name), filepath.Join(p.bin, name)))
	}
	for name, text := range script.Files() {
		p.write("scripts/"+name, text)
	}
	port, err := servertest.FreePort()
	must(t, err)
	p.port = port
	p.env = map[string]string{
		script.EnvPodName: "c-0-0", script.EnvPodNamespace: "ns", script.EnvPodIP: p.ip, script.EnvVersion: version,
		script.EnvTopology: topology, script.EnvPort: strconv.Itoa(port), script.EnvPersisted: "no",
		script.EnvReplicas: "0", script.EnvTLS: "no", script.EnvJobs: "Reconciler", script.EnvNodeTimeout: "1000",
		script.EnvGrace: "30", script.EnvFQDN: "c-0-0.c-nodes.ns.svc.cluster.local",
		"VALKEY_ROOT": p.root, "VALKEY_DATA": p.data, "PATH": p.bin,
	}
	p.args = []string{"--dir", p.data, "--port", strconv.Itoa(port), "--aclfile", filepath.Join(p.root, "acl", version+".acl")}
	p.conf("")
	p.live("maxmemory 100mb\n")
	p.acl(version, "user default on nopass ~* &* +@all\n")
	for _, user := range []string{"_operator", "_replication", "_sentinel"} {
		p.write("system/"+user+".current", password)
	}
	return p
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// write makes a file below the pod's root.
func (p *pod) write(name, text string) {
	p.t.Helper()
	path := filepath.Join(p.root, name)
	must(p.t, os.WriteFile(path+".new", []byte(text), 0o600))
	must(p.t, os.Rename(path+".new", path))
}

// conf sets valkey.conf to what every pod has and more.
func (p *pod) conf(more string) {
	p.t.Helper()
	text := "bind " + p.ip + "\nprotected-mode no\nenable-debug-command yes\nrepl-diskless-sync-delay 0\n" + more + "include " + filepath.Join(p.root, "run/live.conf") + "\n"
	if p.env[script.EnvTopology] != "Standalone" {
		text += "include " + filepath.Join(p.root, "run/auth.conf") + "\n"
	}
	p.write("config/valkey.conf", text+script.EndMarker("valkey.conf")+"\n")
}

// live sets the live file of the pod's version.
func (p *pod) live(text string) {
	p.t.Helper()
	file := script.LiveFile(p.env[script.EnvVersion])
	p.write("live/"+file, text+script.EndMarker(file)+"\n")
}

// acl sets the ACL files: the given lines and the system users, who may do no more
// than the scripts, replicas and sentinels need.
func (p *pod) acl(version, lines string) {
	p.t.Helper()
	hash := fmt.Sprintf("on #%x resetchannels ", sha256.Sum256([]byte(password)))
	operator := "+ping +info +config|get +client|pause +client|unpause +failover +replicaof"
	if p.env[script.EnvTopology] == "Cluster" {
		operator = "+ping +info +cluster|nodes +cluster|failover"
	}
	p.write("acl/"+script.ACLFile(version), lines+
		"user _operator "+hash+operator+"\n"+
		"user _replication "+hash+"+psync +sync +replconf\n"+
		"user _sentinel "+hash+"&__sentinel__:hello +ping +info +publish +subscribe +client|setname +client|kill"+
		" +script|kill +config|rewrite +slaveof +multi +exec\n")
	p.write("acl/"+script.SentinelACLFile(version), lines+
		"user _operator "+hash+"+ping +sentinel|master +sentinel|failover\n"+
		"user _sentinel "+hash+"&__sentinel__:hello +ping +publish +client|setname +sentinel|is-master-down-by-addr\n")
}

// fake replaces a program of the pod by a shell script.
func (p *pod) fake(name, text string) {
	p.t.Helper()
	path := filepath.Join(p.bin, name)
	must(p.t, os.RemoveAll(path))
	must(p.t, os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o700))
}

func (p *pod) command(name string, args ...string) *exec.Cmd {
	line := append(append(p.shell[1:], filepath.Join(p.root, "scripts", name)), args...)
	cmd := exec.Command(p.shell[0], line...)
	cmd.Dir = p.data
	for key, value := range p.env {
		cmd.Env = append(cmd.Env, key+"="+value)
	}
	return cmd
}

// result is what a script did.
type result struct {
	code int
	out  string
	took time.Duration
}

// run runs a script to its end.
func (p *pod) run(name string, args ...string) result {
	p.t.Helper()
	cmd := p.command(name, args...)
	begin := time.Now()
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		p.t.Fatal(err)
	}
	return result{code: cmd.ProcessState.ExitCode(), out: string(out), took: time.Since(begin)}
}

// expect fails the test unless the exit code is that and the output holds each text.
func (r result) expect(t testing.TB, code int, texts ...string) {
	t.Helper()
	if r.code != code {
		t.Errorf("exit code %d instead of %d:\n%s", r.code, code, r.out)
	}
	for _, text := range texts {
		if !strings.Contains(r.out, text) {
			t.Errorf("output lacks %q:\n%s", text, r.out)
		}
	}
}

// start runs start.sh in the background, until the pod's server has loaded.
func (p *pod) start(more ...string) {
	p.t.Helper()
	p.launch(append(append([]string{}, p.args...), more...)...)
	p.await("PING", func(r string) bool { return !strings.HasPrefix(r, "error: LOADING") })
}

// launch runs start.sh with exactly these arguments, as the kubelet does.
func (p *pod) launch(args ...string) {
	p.t.Helper()
	p.log = &lockedBuffer{}
	p.cmd = p.command(script.Start, args...)
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	// A child that outlives the shell has its output too.
	p.cmd.WaitDelay = 200 * time.Millisecond
	must(p.t, p.cmd.Start())
	exited := make(chan struct{})
	p.exited = exited
	cmd := p.cmd
	go func() {
		// How it ended is in ProcessState.
		_ = cmd.Wait()
		close(exited)
	}()
	p.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGCONT)
		_ = cmd.Process.Kill()
		<-exited
	})
}

// stop sends a signal and waits for the end.
func (p *pod) stop(signal syscall.Signal) {
	p.t.Helper()
	must(p.t, p.cmd.Process.Signal(signal))
	select {
	case <-p.exited:
	case <-time.After(15 * time.Second):
		p.t.Fatalf("the server does not stop:\n%s", p.log)
	}
}

func (p *pod) addr() string { return net.JoinHostPort(p.ip, strconv.Itoa(p.port)) }

// do sends one command, as the default user, and prints the reply as text; errors too.
func (p *pod) do(args ...string) string {
	address := p.addr()
	if p.plain != 0 {
		address = net.JoinHostPort(p.ip, strconv.Itoa(p.plain))
	}
	client, err := servertest.Dial("tcp", address)
	if err != nil {
		return "error: " + err.Error()
	}
	defer client.Close()
	reply, err := client.Do(args...)
	if err != nil {
		return "error: " + err.Error()
	}
	if list, ok := reply.([]any); ok {
		return strings.Trim(fmt.Sprint(list), "[]")
	}
	return fmt.Sprint(reply)
}

// await repeats a command (words separated by spaces) until its reply is right.
func (p *pod) await(command string, right func(reply string) bool) string {
	p.t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for {
		reply := p.do(strings.Fields(command)...)
		if !strings.HasPrefix(reply, "error: dial") && right(reply) {
			return reply
		}
		if time.Now().After(deadline) {
			p.t.Fatalf("%s at port %d: still %q\n%s", command, p.port, reply, p.log)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// info is a field of INFO.
func (p *pod) info(name string) string {
	for line := range strings.SplitSeq(p.do("INFO"), "\r\n") {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			return value
		}
	}
	return ""
}

// awaitInfo waits for a field of INFO to have a value.
func (p *pod) awaitInfo(name, value string) {
	p.t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for p.info(name) != value {
		if time.Now().After(deadline) {
			p.t.Fatalf("%s at port %d: still %q, not %q\n%s", name, p.port, p.info(name), value, p.log)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// read is a file's text, empty when it does not exist.
func (p *pod) read(path string) string {
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		p.t.Fatal(err)
	}
	return string(text)
}

// set changes the environment.
func (p *pod) set(values map[string]string) { maps.Copy(p.env, values) }
