// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package conf_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/internal/conftest"
	"github.com/valkey-render/valkey-render/internal/servertest"
	"github.com/valkey-render/valkey-render/render/conf"
	"github.com/valkey-render/valkey-render/render/script"
	"github.com/valkey-render/valkey-render/topologyjob/acl"
)

// TestProcessStartScriptTakesTheText starts every pinned spec as its pod does, by
// start.sh with the rendered text and ACL file, and asks probe.sh.
func TestProcessStartScriptTakesTheText(t *testing.T) {
	t.Parallel()
	for _, dir := range cases(t, "text", "expected.txt") {
		c := read(t, dir)
		// Their files are not there.
		c.Spec.Modules = nil
		if c.ServerVersion() == "9.0" {
			// There is no server of 9.0.
			c, _ = conftest.Reversion(c, "9.1")
		}
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			startPod(t, c, "valkey.conf", conf.Server)
		})
		if c.IsSentinel() {
			t.Run(filepath.Base(dir)+" sentinel", func(t *testing.T) {
				t.Parallel()
				startPod(t, c, "sentinel.conf", conf.Sentinel)
			})
		}
	}
}

// container is a container's file system below one directory, and its environment.
type container struct {
	t     *testing.T
	top   string
	place *strings.Replacer
	env   []string
}

// startPod runs start.sh in a container with the file and waits until the readiness
// probe passes.
func startPod(t *testing.T, c *v1alpha1.ValkeyCluster, file string, text func(*v1alpha1.ValkeyCluster) (string, error)) {
	t.Helper()
	port, err := servertest.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	pod := newContainer(t, c, port)
	config, err := text(c)
	pod.write("valkey/config/"+file, config, err)
	args := []string{script.SentinelArgument}
	if file == "valkey.conf" {
		args = pod.arguments(c, port)
	}
	server, output := pod.command("start.sh", args...)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// It may have ended by itself, which the probe has told.
		_ = server.Process.Kill()
		_ = server.Wait()
		if t.Failed() {
			t.Log(output)
		}
	})
	var said *bytes.Buffer
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		var probe *exec.Cmd
		if probe, said = pod.command("probe.sh", script.ProbeReadiness); probe.Run() == nil {
			return
		}
	}
	t.Errorf("not ready: %s", said)
}

// newContainer fills a container with all but its config file.
func newContainer(t *testing.T, c *v1alpha1.ValkeyCluster, port int) *container {
	t.Helper()
	version, top := c.ServerVersion(), t.TempDir()
	pod := &container{t: t, top: top, place: strings.NewReplacer(
		"/valkey/", top+"/valkey/", "/data", top+"/data", "$(POD_IP)", "127.0.0.1", "$(POD_NAME)", "c-0-0", "$(POD_NAMESPACE)", "shop",
		"tls-port 26379", "tls-port "+strconv.Itoa(port), "bind * -::*", "bind 127.0.0.1",
	)}
	for name, text := range script.Files() {
		pod.write("valkey/scripts/"+name, text, nil)
	}
	for _, name := range []string{"data/keep", "valkey/run/keep"} {
		pod.write(name, "", nil)
	}
	for name, text := range conftest.Certificates(t, c) {
		pod.write("valkey/tls/"+name, text, nil)
	}
	live, err := conf.Live(c, version)
	pod.write("valkey/live/"+version+".conf", live, err)
	in := conftest.Input(t, c)
	users, err := acl.Text(version, in)
	pod.write("valkey/acl/"+acl.FileKey(version), users, err)
	users, err = acl.SentinelText(version, in)
	pod.write("valkey/acl/"+acl.SentinelFileKey(version), users, err)
	for _, user := range acl.SystemUsers(in.Topology) {
		pod.write("valkey/system/"+user+acl.CurrentSuffix, conftest.Password, nil)
	}
	for _, program := range []string{"valkey-server", "valkey-cli"} {
		pod.write("bin/"+program, fmt.Sprintf("#!/bin/sh\nexec %q \"$@\"\n", servertest.Program(t, version, program)), nil)
	}
	yesNo := map[bool]string{true: "yes", false: "no"}
	pod.env = append(os.Environ(),
		"POD_NAME=c-0-0", "POD_NAMESPACE=shop", "POD_IP=127.0.0.1", "VALKEY_FQDN=localhost", "VALKEY_VERSION="+version,
		"VALKEY_TOPOLOGY="+string(c.EffectiveTopology()), "VALKEY_PORT="+strconv.Itoa(port), "VALKEY_SENTINEL_PORT="+strconv.Itoa(port),
		"VALKEY_PERSISTED="+yesNo[c.Persisted()], "VALKEY_REPLICAS=0", "VALKEY_TLS="+yesNo[c.TLSEnabled()], "VALKEY_JOBS=Reconciler",
		"VALKEY_PEERS=", "VALKEY_SENTINELS=", "VALKEY_GRACE_SECONDS=30",
		"VALKEY_ROOT="+top+"/valkey", "VALKEY_DATA="+top+"/data", "PATH="+top+"/bin:"+os.Getenv("PATH"),
	)
	return pod
}

// write makes a file, with the paths in it moved below the container's directory.
func (p *container) write(name, text string, err error) {
	p.t.Helper()
	path := filepath.Join(p.top, name)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o755)
	}
	if err == nil {
		err = os.WriteFile(path, []byte(p.place.Replace(text)), 0o700)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *container) command(name string, args ...string) (*exec.Cmd, *bytes.Buffer) {
	output := &bytes.Buffer{}
	cmd := exec.Command(servertest.Tool(p.t, "dash"), append([]string{p.top + "/valkey/scripts/" + name}, args...)...)
	cmd.Env, cmd.Stdout, cmd.Stderr = p.env, output, output
	return cmd, output
}

// arguments are those of the container, at a free port.
func (p *container) arguments(c *v1alpha1.ValkeyCluster, port int) []string {
	args := conf.Args(c)
	for i := range args {
		switch args[i] {
		case strconv.Itoa(int(c.Port())):
			args[i] = strconv.Itoa(port)
		case strconv.Itoa(int(c.BusPort())):
			args[i] = strconv.Itoa(port + v1alpha1.BusPortOffset)
		default:
			args[i] = p.place.Replace(args[i])
		}
	}
	return args
}
