// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

//go:build cluster

package e2e

import (
	"archive/tar"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
)

// standIns loads images that the examples name and a local cluster has not: other tags of
// Valkey's, a program for the sidecars, and modules that do nothing. On the cluster of
// KUBECONFIG pods pull the real ones.
func (p *place) standIns() {
	p.Helper()
	if os.Getenv("LOCALCLUSTER") == "" {
		return
	}
	module := filepath.Join(p.TempDir(), "module.so")
	p.run("gcc", "-shared", "-fPIC", "-nostdlib", "-O1", "-o", module, "testdata/module.c")
	images := p.localcluster("images")
	sidecar := p.sidecar()
	bundle := p.image(p.archived(images, "9.1"), map[string]string{
		"usr/lib/valkey/libsearch.so": module, "usr/lib/valkey/libjson.so": module,
	}, v1.Config{})
	for reference, image := range map[string]v1.Image{
		"docker.io/valkey/valkey:8.1.4":      p.archived(images, "8.1"),
		"docker.io/valkey/valkey:9.1.2":      p.archived(images, "9.1"),
		"docker.io/valkey/valkey-bundle:9.1": bundle,
		v1alpha1.DefaultExporterImage:        sidecar,
		"docker.io/fluent/fluent-bit:3.2.4":  sidecar,
	} {
		p.load(reference, image)
	}
}

// sidecar is the image of a program that stands in for exporters and the like.
func (p *place) sidecar() v1.Image {
	p.Helper()
	program := filepath.Join(p.TempDir(), "standin")
	p.run("go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, "./standin")
	return p.image(empty.Image, map[string]string{"standin": program}, v1.Config{Entrypoint: []string{"/standin"}, User: "65532"})
}

func (p *place) run(command string, args ...string) string {
	p.Helper()
	c := exec.CommandContext(p.Context(), command, args...)
	if command == "go" {
		c.Env = append(os.Environ(), "CGO_ENABLED=0")
	}
	out, err := c.CombinedOutput()
	if err != nil {
		p.Fatalf("%s: %v: %s", command, err, out)
	}
	return strings.TrimSpace(string(out))
}

// localcluster runs a command about the cluster that the tests run on.
func (p *place) localcluster(args ...string) string {
	p.Helper()
	return p.run(os.Getenv("LOCALCLUSTER"), append([]string{"--source", "..", "--name", os.Getenv("LOCALCLUSTER_NAME")}, args...)...)
}

func (p *place) archived(dir, version string) v1.Image {
	p.Helper()
	image, err := tarball.ImageFromPath(filepath.Join(dir, "valkey-"+version+".tar"), nil)
	if err != nil {
		p.Fatal(err)
	}
	return image
}

// image is a base with one more layer, of files of this machine by their names in it.
func (p *place) image(base v1.Image, files map[string]string, config v1.Config) v1.Image {
	p.Helper()
	var layer bytes.Buffer
	w := tar.NewWriter(&layer)
	for path, file := range files {
		data, err := os.ReadFile(file)
		if err == nil {
			err = w.WriteHeader(&tar.Header{Name: path, Typeflag: tar.TypeReg, Mode: 0o755, Size: int64(len(data))})
		}
		if err == nil {
			_, err = w.Write(data)
		}
		if err != nil {
			p.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		p.Fatal(err)
	}
	image, err := mutate.AppendLayers(base, static.NewLayer(layer.Bytes(), types.DockerUncompressedLayer))
	if err != nil {
		p.Fatal(err)
	}
	if base != empty.Image {
		return image
	}
	file, err := image.ConfigFile()
	if err != nil {
		p.Fatal(err)
	}
	file = file.DeepCopy()
	file.OS, file.Architecture, file.Config = "linux", runtime.GOARCH, config
	if image, err = mutate.ConfigFile(image, file); err != nil {
		p.Fatal(err)
	}
	return image
}

func (p *place) load(reference string, image v1.Image) {
	p.Helper()
	tag, err := name.NewTag(reference)
	if err != nil {
		p.Fatal(err)
	}
	file := filepath.Join(p.TempDir(), "image.tar")
	if err := tarball.WriteToFile(file, tag, image); err != nil {
		p.Fatal(err)
	}
	p.localcluster("load-image", file)
}
