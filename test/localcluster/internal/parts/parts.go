// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package parts

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/valkey-render/valkey-render/test/localcluster/internal/store"
)

// Parts knows where parts come from and where they are kept.
type Parts struct {
	Source string // directory test/ of the source tree
	Cache  string // cache directory
	// Say tells the user about what takes minutes.
	Say func(format string, args ...any)
}

// FindSource is the directory test/ of the source tree that dir is in.
//
// It is absolute: programs that are run in it are named by their paths below it.
func FindSource(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("source: %w", err)
	}
	for at := dir; ; at = filepath.Dir(at) {
		for _, candidate := range []string{at, filepath.Join(at, "test")} {
			if _, err := os.Stat(filepath.Join(candidate, "kubernetes", "go.mod")); err == nil {
				return candidate, nil
			}
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("source: %s is not in a checkout of valkey-render; name its directory with --source", dir)
		}
	}
}

func (p Parts) store(kind string) store.Store {
	return store.Store{Dir: filepath.Join(p.Cache, kind)}
}

// Kubernetes is the directory of kube-apiserver, kube-controller-manager, kube-scheduler,
// kubelet, kube-proxy and kubectl.
func (p Parts) Kubernetes(ctx context.Context) (string, error) {
	module := filepath.Join(p.Source, "kubernetes")
	return p.module(ctx, "kubernetes", module, func(dir string) error {
		version, err := p.output(ctx, module, "go", "list", "-m", "-f", "{{.Version}}", "k8s.io/kubernetes")
		if err != nil {
			return err
		}
		p.Say("building Kubernetes %s (once; 15 minutes on 2 idle cores)", version)
		if err := p.build(ctx, module, dir, versionFlags(version)); err != nil {
			return err
		}
		for _, name := range []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet", "kube-proxy", "kubectl"} {
			if err := os.Symlink("kube", filepath.Join(dir, name)); err != nil {
				return err
			}
		}
		return nil
	})
}

// versionFlags are the linker's flags that tell Kubernetes its version, "v1.37.2": a
// release's own build passes the same. Without them the server calls itself v0.0.0.
func versionFlags(version string) string {
	major, minor, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	minor, _, _ = strings.Cut(minor, ".")
	const p = "k8s.io/component-base/version."
	return fmt.Sprintf("-X %[1]sgitVersion=%[2]s -X %[1]sgitMajor=%[3]s -X %[1]sgitMinor=%[4]s -X %[1]sgitTreeState=clean", p, version, major, minor)
}

// Addons is the directory of coredns, provisioner and pause.
func (p Parts) Addons(ctx context.Context) (string, error) {
	module := filepath.Join(p.Source, "addons")
	return p.module(ctx, "addons", module, func(dir string) error {
		p.Say("building CoreDNS and the provisioner (once; minutes)")
		return p.build(ctx, module, dir, "")
	})
}

// module gets what the Go module in a directory builds to.
func (p Parts) module(ctx context.Context, kind, module string, build func(dir string) error) (string, error) {
	files, err := store.Files(module)
	if err != nil {
		return "", err
	}
	toolchain, err := p.output(ctx, module, "go", "env", "GOVERSION", "GOOS", "GOARCH")
	if err != nil {
		return "", err
	}
	key, err := store.Key(files, []string{toolchain})
	if err != nil {
		return "", err
	}
	dir, err := p.store(kind).Get(ctx, key, build)
	if err != nil {
		return "", fmt.Errorf("%s: %w", kind, err)
	}
	return dir, nil
}

// build builds every program of a module into dir.
func (p Parts) build(ctx context.Context, module, dir, flags string) error {
	start := time.Now()
	_, err := p.output(ctx, module, "nice", "go", "build", "-trimpath", "-buildvcs=false",
		"-ldflags", strings.TrimSpace("-s -w "+flags), "-o", dir+"/", "./...")
	if err != nil {
		return err
	}
	p.Say("built in %s", time.Since(start).Round(time.Second))
	return nil
}

// output runs a program in a directory; an error has the last lines that it said.
func (p Parts) output(ctx context.Context, dir, program string, args ...string) (string, error) {
	var out, said bytes.Buffer
	c := exec.CommandContext(ctx, program, args...)
	c.Dir, c.Stdout, c.Stderr = dir, &out, &said
	c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOARCH="+runtime.GOARCH, "VALKEY_RENDER_CACHE="+p.Cache)
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = 10 * time.Second
	if err := c.Run(); err != nil {
		return "", fmt.Errorf("%s: %w: %s", program, err, lastLines(said.String(), 5))
	}
	return strings.TrimSpace(out.String()), nil
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
