// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package parts

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/valkey-render/valkey-render/test/localcluster/internal/debian"
	"github.com/valkey-render/valkey-render/test/localcluster/internal/image"
	"github.com/valkey-render/valkey-render/test/localcluster/internal/store"
)

// PauseImage is the reference of the image of a pod's sandbox.
const PauseImage = "localhost/pause:1"

// entrypoint does what that of the official image does for a server's arguments.
const entrypoint = `#!/bin/sh
set -e
case "${1:-}" in
-* | *.conf) set -- valkey-server "$@" ;;
esac
exec "$@"
`

// valkeyVersions maps the version of a Valkey image to the Debian suite that has it.
func valkeyVersions() map[string]string {
	return map[string]string{"8.0": "bookworm", "8.1": "trixie", "9.1": "forky"}
}

// Images is the directory of the images that every node has, as docker-archive files.
func (p Parts) Images(ctx context.Context) (string, error) {
	addons, err := p.Addons(ctx)
	if err != nil {
		return "", err
	}
	var groups []string
	for _, version := range []string{"8.0", "8.1", "9.1"} {
		groups = append(groups, "valkey-"+version+"="+valkeyVersions()[version]+imagePackages)
	}
	scripts := filepath.Join(p.Source, "servers")
	key, err := store.Key(
		[]string{filepath.Join(scripts, "packages.sh"), filepath.Join(scripts, "debian.sh")},
		append([]string{"2", fmt.Sprint(valkeyExtra()), filepath.Base(addons)}, groups...))
	if err != nil {
		return "", err
	}
	return p.store("images").Get(ctx, key, func(dir string) error {
		packages, err := p.packages(ctx, groups...)
		if err != nil {
			return err
		}
		if err := pause(filepath.Join(addons, "pause"), filepath.Join(dir, "pause.tar")); err != nil {
			return err
		}
		for version := range valkeyVersions() {
			p.Say("making image valkey/valkey:%s", version)
			if err := valkey(ctx, version, filepath.Join(packages, "valkey-"+version), filepath.Join(dir, "valkey-"+version+".tar")); err != nil {
				return err
			}
		}
		return nil
	})
}

func pause(program, file string) error {
	body, err := os.ReadFile(program)
	if err != nil {
		return fmt.Errorf("image pause: %w", err)
	}
	var layer bytes.Buffer
	w := tar.NewWriter(&layer)
	if err := w.WriteHeader(&tar.Header{Name: "pause", Typeflag: tar.TypeReg, Mode: 0o755, Size: int64(len(body))}); err != nil {
		return fmt.Errorf("image pause: %w", err)
	}
	if _, err := w.Write(body); err != nil {
		return fmt.Errorf("image pause: %w", err)
	}
	if err := w.Close(); err != nil {
		return fmt.Errorf("image pause: %w", err)
	}
	return image.Write(file, PauseImage, runtime.GOARCH, layer.Bytes(), v1.Config{
		Entrypoint: []string{"/pause"}, User: "65535:65535",
	})
}

func valkey(ctx context.Context, version, packages, file string) error {
	var layer bytes.Buffer
	if err := debian.Tar(ctx, packages, valkeyExtra(), &layer); err != nil {
		return fmt.Errorf("image valkey/valkey:%s: %w", version, err)
	}
	return image.Write(file, "valkey/valkey:"+version, runtime.GOARCH, layer.Bytes(), v1.Config{
		Env:          []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "VALKEY_VERSION=" + version},
		Entrypoint:   []string{"docker-entrypoint.sh"},
		Cmd:          []string{"valkey-server"},
		WorkingDir:   "/data",
		ExposedPorts: map[string]struct{}{"6379/tcp": {}},
		Volumes:      map[string]struct{}{"/data": {}},
	})
}

// valkeyExtra is what the official image has besides Debian's packages: its user, its
// directories, and its programs in /usr/local/bin.
func valkeyExtra() []debian.Extra {
	extra := []debian.Extra{
		{Name: "etc/passwd", Mode: 0o644, Body: "root:x:0:0:root:/:/bin/sh\n" +
			"nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n" +
			"valkey:x:999:999::/home/valkey:/bin/sh\n"},
		{Name: "etc/group", Mode: 0o644, Body: "root:x:0:\nnogroup:x:65534:\nvalkey:x:999:\n"},
		{Name: "etc/nsswitch.conf", Mode: 0o644, Body: "passwd: files\ngroup: files\nhosts: files dns\n"},
		{Name: "tmp", Mode: 0o1777, Dir: true},
		{Name: "root", Mode: 0o700, Dir: true},
		{Name: "data", Mode: 0o755, Dir: true, UID: 999},
		{Name: "proc", Mode: 0o555, Dir: true},
		{Name: "sys", Mode: 0o555, Dir: true},
		{Name: "dev", Mode: 0o755, Dir: true},
		{Name: "run", Mode: 0o755, Dir: true},
		{Name: "usr/bin/awk", Link: "mawk"},
		{Name: "usr/bin/sh", Link: "dash"},
		{Name: "usr/local/bin/docker-entrypoint.sh", Mode: 0o755, Body: entrypoint},
	}
	for _, name := range []string{"valkey-server", "valkey-cli", "valkey-sentinel", "valkey-benchmark", "valkey-check-aof", "valkey-check-rdb"} {
		extra = append(extra, debian.Extra{Name: "usr/local/bin/" + name, Link: "/usr/bin/" + name})
	}
	return extra
}
