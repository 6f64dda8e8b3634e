// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package load

import (
	"fmt"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/valkey-render/valkey-render/render/finding"
)

// unknown reports a field that the schema does not have, with the name or the
// place that was most likely meant: a name from elsewhere, the same name in
// another block, else the nearest name in this one.
func (d *decoder) unknown(key *yaml.Node, t reflect.Type, path, name string) {
	full := child(path, name)
	if advice, ok := renamed(d.kind, full); ok {
		d.report(key, finding.RenamedField, full, advice)
		return
	}
	d.report(key, finding.UnknownField, full, "unknown field"+d.suggest(t, path, name))
}

func (d *decoder) suggest(t reflect.Type, path, name string) string {
	ask := func(what string) string { return fmt.Sprintf("; did you mean %q?", what) }
	if key, value, found := strings.Cut(name, ":"); found && value != "" {
		return fmt.Sprintf("; a space is missing after the colon: %s: %s", key, value)
	}
	if path == "" || strings.HasPrefix(path, "spec.") {
		if spec := d.types.structAt(d.root, "spec"); spec != nil {
			if _, ok := d.types.of(spec).index[name]; ok {
				return ask("spec." + name)
			}
		}
	}
	if holders := d.types.holders(t, name); len(holders) > 0 && len(holders) <= 3 {
		for i, holder := range holders {
			holders[i] = fmt.Sprintf("%q", child(path, holder)+"."+name)
		}
		return "; did you mean " + strings.Join(holders, " or ") + "?"
	}
	if near := finding.Nearest(name, d.types.of(t).names); near != "" {
		return ask(near)
	}
	return ""
}

// renamed says what a field of another operator, or of an older sketch of this
// API, is called here.
func renamed(kind, path string) (advice string, ok bool) {
	if kind != "ValkeyCluster" {
		return "", false
	}
	advice, ok = map[string]string{
		"spec.size":                "unknown field; with topology Cluster it is spec.shards, else spec.replicas",
		"spec.tls.enabled":         "unknown field; TLS is on when spec.tls is present, and off without it",
		"spec.mode":                "unknown field; it is spec.topology (Cluster, Replication, Sentinel or Standalone)",
		"spec.persistence":         "unknown field; it is spec.storage",
		"spec.volumePermissions":   "unknown field; the pods' fsGroup does this",
		"spec.exporter":            "unknown field; it is spec.metrics",
		"spec.tls.certificate":     "unknown field; it is spec.tls.secretName or spec.tls.issuerRef",
		"spec.nodeSelector":        "unknown field; it is spec.scheduling.nodeSelector",
		"spec.storage.storageSize": "unknown field; it is spec.storage.size",
	}[path]
	return advice, ok
}
