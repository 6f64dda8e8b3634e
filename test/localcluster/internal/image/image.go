// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"fmt"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Write writes an image FROM scratch with one layer, a tar archive, to a file. The layer is
// not compressed: the file never leaves this machine.
func Write(file, reference, architecture string, layer []byte, config v1.Config) error {
	tag, err := name.NewTag(reference, name.WithDefaultRegistry("docker.io"))
	if err != nil {
		return fmt.Errorf("image %s: %w", reference, err)
	}
	image, err := mutate.AppendLayers(empty.Image, static.NewLayer(layer, types.DockerUncompressedLayer))
	if err != nil {
		return fmt.Errorf("image %s: %w", reference, err)
	}
	cf, err := image.ConfigFile()
	if err != nil {
		return fmt.Errorf("image %s: %w", reference, err)
	}
	cf = cf.DeepCopy()
	cf.OS, cf.Architecture, cf.Config = "linux", architecture, config
	if image, err = mutate.ConfigFile(image, cf); err != nil {
		return fmt.Errorf("image %s: %w", reference, err)
	}
	if err := tarball.WriteToFile(file, tag, image); err != nil {
		return fmt.Errorf("image %s: %w", reference, err)
	}
	return nil
}
