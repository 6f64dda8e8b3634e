// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package difference

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"

	"sigs.k8s.io/yaml"

	"github.com/valkey-render/valkey-render/render/name"
)

// Renamed is a StatefulSet that no longer has the name its labels, its claims
// and the DNS names in its pods were rendered with.
type Renamed struct {
	// File is the golden file, Have the name it has there and Want the rendered
	// one.
	File, Have, Want string
	// Cluster is the one whose label it carries.
	Cluster string
}

// String says what is wrong and what to do instead.
func (r Renamed) String() string {
	return fmt.Sprintf("%s: StatefulSet %q was rendered as %q of cluster %q: with namePrefix or nameSuffix over rendered "+
		"manifests the claims (data-%s-0), the DNS names and the labels no longer match; put them on the spec and render with -k",
		r.File, r.Have, r.Want, r.Cluster, r.Want)
}

// FindRenamed looks through committed files for data StatefulSets whose name
// was changed after rendering.
func FindRenamed(committed map[string][]byte) []Renamed {
	var found []Renamed
	for _, file := range slices.Sorted(maps.Keys(committed)) {
		for _, document := range documents(committed[file]) {
			if !bytes.Contains(document, []byte("StatefulSet")) {
				continue
			}
			if r, ok := renamed(document); ok {
				r.File = file
				found = append(found, r)
			}
		}
	}
	return found
}

// separator is a line that begins a YAML document. A rendered block scalar
// never has it at the start of a line.
var separator = regexp.MustCompile(`(?m)^---(?:\s.*)?$`)

func documents(stream []byte) [][]byte {
	var out [][]byte
	for _, text := range separator.Split(string(stream), -1) {
		out = append(out, []byte(text))
	}
	return out
}

func renamed(document []byte) (Renamed, bool) {
	var object struct {
		Kind     string
		Metadata struct {
			Name   string
			Labels map[string]string
		}
	}
	if yaml.Unmarshal(document, &object) != nil || object.Kind != "StatefulSet" {
		return Renamed{}, false
	}
	cluster := object.Metadata.Labels[name.LabelCluster]
	shard, err := strconv.ParseInt(object.Metadata.Labels[name.LabelShard], 10, 32)
	if cluster == "" || err != nil {
		return Renamed{}, false
	}
	want := name.StatefulSet(cluster, int32(shard))
	if object.Metadata.Name == want {
		return Renamed{}, false
	}
	return Renamed{Have: object.Metadata.Name, Want: want, Cluster: cluster}, true
}
