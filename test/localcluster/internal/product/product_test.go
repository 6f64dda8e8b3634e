// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package product

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

const source = "../../../.."

func TestTheImageHoldsTheProgramsAndNothingElse(t *testing.T) {
	b := Build{Version: "v1.2.3", Architecture: runtime.GOARCH, Output: filepath.Join(t.TempDir(), "image.tar")}
	reference, err := b.write(map[string][]byte{"valkey-topology": []byte("b"), "valkey-render": []byte("aa")})
	if err != nil || reference != "ghcr.io/valkey-render/valkey-render:v1.2.3" {
		t.Fatalf("%s, %v", reference, err)
	}
	tag, err := name.NewTag(reference)
	if err != nil {
		t.Fatal(err)
	}
	got, err := tarball.ImageFromPath(b.Output, &tag)
	if err != nil {
		t.Fatal(err)
	}
	cf, err := got.ConfigFile()
	if err != nil || cf.Config.User != "65532:65532" || len(cf.Config.Entrypoint) != 1 || cf.Config.Entrypoint[0] != "/valkey-render" {
		t.Errorf("%v, %+v", err, cf.Config)
	}
	layers, err := got.Layers()
	if err != nil || len(layers) != 1 {
		t.Fatalf("%d layers, %v", len(layers), err)
	}
	r, err := layers[0].Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var found []string
	for files := tar.NewReader(r); ; {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(files)
		if err != nil {
			t.Fatal(err)
		}
		if h.Mode != 0o755 || !h.ModTime.IsZero() && h.ModTime.Unix() != 0 {
			t.Errorf("%s has mode %o of %s", h.Name, h.Mode, h.ModTime)
		}
		found = append(found, h.Name+" "+string(body))
	}
	if diff := cmp.Diff([]string{"valkey-render aa", "valkey-topology b"}, found); diff != "" {
		t.Error(diff)
	}
}

// TestTheDockerfileMakesTheSame: people build with it, tests without.
func TestTheDockerfileMakesTheSame(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(source, "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"FROM scratch", "COPY --from=build /out/ /", "USER " + User, `ENTRYPOINT ["` + Entrypoint + `"]`} {
		if !strings.Contains(string(text), "\n"+line+"\n") {
			t.Errorf("the Dockerfile has no line %q", line)
		}
	}
	for _, part := range []string{"CGO_ENABLED=0", "-trimpath", "-X main.version=", "./cmd/*-*"} {
		if !bytes.Contains(text, []byte(part)) {
			t.Errorf("the Dockerfile does not build with %s", part)
		}
	}
}

func TestEveryProgramIsInIt(t *testing.T) {
	names, err := Programs(source)
	if err != nil || len(names) < 2 {
		t.Errorf("%v, %v", names, err)
	}
	if _, err := Programs(t.TempDir()); err == nil {
		t.Error("programs in an empty directory")
	}
}

func TestABuildThatFailsSaysWhy(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "cmd", "x"), 0o777); err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{"go.mod": "module x\n\ngo 1.26\n", "cmd/x/main.go": "package main\n\nfunc main() { nope() }\n"} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	_, err := Build{Source: dir, Version: "dev", Architecture: runtime.GOARCH, Output: filepath.Join(dir, "x.tar")}.Make(t.Context())
	if err == nil || !strings.Contains(err.Error(), "undefined: nope") {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "x.tar")); err == nil {
		t.Error("an image was written")
	}
}
