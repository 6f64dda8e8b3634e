// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package product

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/valkey-render/valkey-render/test/localcluster/internal/image"
)

const (
	// Repository is the name of the image without its tag; render/job has the same.
	Repository = "ghcr.io/valkey-render/valkey-render"
	// User runs the programs. Pods ask for the same one.
	User = "65532:65532"
	// Entrypoint is what the image runs by itself.
	Entrypoint = "/valkey-render"
)

// Build says what to build.
type Build struct {
	// Source is the root of the source tree.
	Source string
	// Version is the tag, and what the programs call themselves unless it is dev.
	Version string
	// Architecture as Go calls it.
	Architecture string
	// Output is the file to write, a docker-archive.
	Output string
}

// Programs are the names of the programs in a source tree, sorted: every directory of
// cmd with a main.go.
func Programs(source string) ([]string, error) {
	mains, err := filepath.Glob(filepath.Join(source, "cmd", "*", "main.go"))
	if err != nil || len(mains) == 0 {
		return nil, fmt.Errorf("programs: none in %s", filepath.Join(source, "cmd"))
	}
	var names []string
	for _, m := range mains {
		names = append(names, filepath.Base(filepath.Dir(m)))
	}
	slices.Sort(names)
	return names, nil
}

// Make builds the programs and writes the image. It returns the image's reference.
func (b Build) Make(ctx context.Context) (string, error) {
	names, err := Programs(b.Source)
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "valkey-render-image-")
	if err != nil {
		return "", fmt.Errorf("image: %w", err)
	}
	defer os.RemoveAll(dir)
	if err := b.compile(ctx, dir, names); err != nil {
		return "", err
	}
	files := map[string][]byte{}
	for _, n := range names {
		if files[n], err = os.ReadFile(filepath.Join(dir, n)); err != nil {
			return "", fmt.Errorf("image: %w", err)
		}
	}
	return b.write(files)
}

// compile builds static programs that depend on nothing of this machine.
func (b Build) compile(ctx context.Context, dir string, names []string) error {
	flags := "-s -w"
	if b.Version != "dev" {
		flags += " -X main.version=" + b.Version
	}
	args := []string{"go", "build", "-trimpath", "-buildvcs=false", "-ldflags", flags, "-o", dir + "/"}
	for _, n := range names {
		args = append(args, "./cmd/"+n)
	}
	c := exec.CommandContext(ctx, "nice", args...)
	c.Dir = b.Source
	c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOWORK=off", "GOARCH="+b.Architecture)
	if said, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("image: programs not built: %w: %s", err, strings.TrimSpace(string(said)))
	}
	return nil
}

// write writes the image with the programs at its root.
func (b Build) write(programs map[string][]byte) (string, error) {
	reference := Repository + ":" + b.Version
	var layer bytes.Buffer
	w := tar.NewWriter(&layer)
	names := make([]string, 0, len(programs))
	for n := range programs {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		// Without times and owners, so that the same programs are the same image.
		if err := w.WriteHeader(&tar.Header{Name: n, Typeflag: tar.TypeReg, Mode: 0o755, Size: int64(len(programs[n]))}); err != nil {
			return "", fmt.Errorf("image %s: %w", reference, err)
		}
		if _, err := w.Write(programs[n]); err != nil {
			return "", fmt.Errorf("image %s: %w", reference, err)
		}
	}
	if err := w.Close(); err != nil {
		return "", fmt.Errorf("image %s: %w", reference, err)
	}
	return reference, image.Write(b.Output, reference, b.Architecture, layer.Bytes(), v1.Config{
		Entrypoint: []string{Entrypoint}, User: User,
		Labels: map[string]string{
			"org.opencontainers.image.source":  "https://github.com/valkey-render/valkey-render",
			"org.opencontainers.image.version": b.Version,
		},
	})
}
