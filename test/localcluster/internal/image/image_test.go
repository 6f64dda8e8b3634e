// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package image_test

import (
	"archive/tar"
	"bytes"
	"io"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/valkey-render/valkey-render/test/localcluster/internal/image"
)

func TestWritesAnImageThatOthersRead(t *testing.T) {
	var layer bytes.Buffer
	w := tar.NewWriter(&layer)
	if err := w.WriteHeader(&tar.Header{Name: "program", Mode: 0o755, Size: 4}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte("body")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "image.tar")
	config := v1.Config{Entrypoint: []string{"/program"}, User: "999"}
	if err := image.Write(file, "valkey/valkey:9.1", "amd64", layer.Bytes(), config); err != nil {
		t.Fatal(err)
	}
	tag, err := name.NewTag("valkey/valkey:9.1")
	if err != nil {
		t.Fatal(err)
	}
	got, err := tarball.ImageFromPath(file, &tag)
	if err != nil {
		t.Fatal(err)
	}
	cf, err := got.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(config, cf.Config); diff != "" || cf.OS != "linux" || cf.Architecture != "amd64" {
		t.Errorf("config of %s/%s: %s", cf.OS, cf.Architecture, diff)
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
	body, err := io.ReadAll(r)
	if err != nil || !bytes.Equal(body, layer.Bytes()) {
		t.Errorf("the layer has changed: %v", err)
	}
}

func TestRefusesAReferenceThatIsNone(t *testing.T) {
	if err := image.Write(filepath.Join(t.TempDir(), "x.tar"), "Not A Reference", "amd64", nil, v1.Config{}); err == nil {
		t.Error("no error")
	}
}
