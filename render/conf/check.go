// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package conf

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/directive"
	"github.com/valkey-render/valkey-render/render/finding"
)

// Check returns every fault of spec.config and spec.sentinel.config: directives
// that this version does not know, that are reserved or hold secrets, that are
// there twice, values that they do not take, and values that contradict each other
// or other fields. Each error has its code (finding.WithCode). Values of secrets, and
// of names that no table knows, are in no error.
func Check(c *v1alpha1.ValkeyCluster) field.ErrorList {
	path := field.NewPath("spec", "config")
	errs := checkDirectives(path, c.ServerVersion(), c.Spec.Config)
	errs = append(errs, checkFields(path, c)...)
	if c.Spec.Sentinel != nil {
		errs = append(errs, checkSentinel(field.NewPath("spec", "sentinel", "config"), c)...)
	}
	return append(errs, checkMemory(c)...)
}

// checkDirectives holds a map of directives against the table of a version.
func checkDirectives(path *field.Path, version string, config map[string]string) field.ErrorList {
	values := make(map[string]string, len(config))
	for name, value := range config {
		values[name] = trimmed(value)
	}
	var errs field.ErrorList
	for _, p := range directive.CheckAll(version, values) {
		errs = append(errs, fieldError(path.Key(p.Name), p, values[p.Name]))
	}
	return errs
}

// fieldError words a problem of the table as an error of the field.
func fieldError(path *field.Path, p directive.Problem, value string) *field.Error {
	var err *field.Error
	switch p.Kind {
	case directive.Unknown:
		err = field.NotFound(path, p.Name)
		err.Detail = p.Message
	case directive.Reserved, directive.Secret:
		err = field.Forbidden(path, p.Message)
	case directive.Duplicate:
		err = field.Duplicate(path, p.Name)
		err.Detail = p.Message
	default:
		err = field.Invalid(path, value, p.Message)
	}
	return finding.WithCode(err, code(p.Kind))
}

// code is the code of a kind of problem.
func code(kind directive.Kind) finding.Code {
	switch kind {
	case directive.Unknown:
		return finding.UnknownDirective
	case directive.Reserved:
		return finding.ReservedDirective
	case directive.Secret:
		return finding.SecretDirective
	case directive.Duplicate:
		return finding.DuplicateDirective
	default:
		return finding.DirectiveValue
	}
}

// checkFields compares spec.config with the fields that say something about the
// same thing.
func checkFields(path *field.Path, c *v1alpha1.ValkeyCluster) field.ErrorList {
	var errs field.ErrorList
	conflict := func(given, format string, args ...any) {
		err := field.Invalid(path.Key(given), trimmed(c.Spec.Config[given]), fmt.Sprintf(format, args...))
		errs = append(errs, finding.WithCode(err, code(directive.Conflict)))
	}
	for _, given := range slices.Sorted(maps.Keys(c.Spec.Config)) {
		d, _ := directive.Lookup(c.ServerVersion(), given)
		value := trimmed(c.Spec.Config[given])
		switch d.Name {
		case "save":
			if mode := c.StorageMode(); value != "" && !writesRDB(mode) {
				conflict(given, "snapshots are written with spec.storage.mode rdb or both only, and it is %s", mode)
			}
		case "min-replicas-to-write":
			if n, err := strconv.ParseInt(value, 10, 64); err == nil && n > int64(c.ReplicaCount()) {
				conflict(given, "no write would ever be accepted: a primary has %d replicas, as %s says", c.ReplicaCount(), replicasField(c))
			}
		}
	}
	return errs
}

// replicasField is the field that says how many replicas a primary has.
func replicasField(c *v1alpha1.ValkeyCluster) string {
	switch c.EffectiveTopology() {
	case v1alpha1.TopologyCluster:
		return "spec.replicasPerShard"
	case v1alpha1.TopologyStandalone:
		return "spec.topology"
	default:
		return "spec.replicas"
	}
}

// checkMemory refuses a memory limit that buffers alone would fill.
func checkMemory(c *v1alpha1.ValkeyCluster) field.ErrorList {
	if _, set := c.ConfigValue("maxmemory"); set {
		return nil
	}
	bytes, ok := derivedMaxmemory(c)
	if !ok || bytes >= leastMaxmemory {
		return nil
	}
	limit := c.Spec.Resources.Limits.Memory()
	err := field.Invalid(field.NewPath("spec", "resources", "limits").Key("memory"), limit.String(), fmt.Sprintf(
		"leaves no memory for data: %d percent of it, less the buffers for replication and clients, must be at least %s; raise it, or set spec.config[maxmemory]",
		c.MaxmemoryPercent(), megabytes(leastMaxmemory)))
	return field.ErrorList{finding.WithCode(err, code(directive.Conflict))}
}
