// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
)

// Modules says whether servers know more than the table.
type Modules int

const (
	// NoModules are loaded: the table is complete.
	NoModules Modules = iota
	// SomeModules are loaded, whose commands no table knows.
	SomeModules
	// MaybeModules are loaded: of unknown names, only those that look misspelt
	// are refused.
	MaybeModules
)

// Of returns whether the servers of a cluster load modules.
func Of(c *v1alpha1.ValkeyCluster) Modules {
	if len(c.Spec.Modules) > 0 {
		return SomeModules
	}
	return NoModules
}

// Verdict is what is known of a rule.
type Verdict struct {
	// Since is the first supported version whose server takes the rule ("8.0" to
	// "9.1"); empty when none does.
	Since string
	// Problem says why no server takes it; empty otherwise.
	Problem string
	// Unknown says that the name, though well-formed, is in no version.
	Unknown bool
}

// In says whether a server of a minor version takes the rule.
func (v Verdict) In(version string) bool {
	return v.Since != "" && AtLeast(version, v.Since)
}

// AtLeast compares two supported versions.
func AtLeast(version, least string) bool {
	all := v1alpha1.Versions()
	return slices.Index(all, version) >= slices.Index(all, least)
}

// databaseRules is the first version whose rules may name databases.
const databaseRules = "9.1"

// Database returns what is known of a rule about numbered databases: db=0,3,
// alldbs and resetdbs, in any case. found is false for every other word.
func Database(rule string) (verdict Verdict, found bool) {
	lower := strings.ToLower(rule)
	if lower == "alldbs" || lower == "resetdbs" {
		return Verdict{Since: databaseRules}, true
	}
	list, found := strings.CutPrefix(lower, "db=")
	if !found {
		return Verdict{}, false
	}
	for number := range strings.SplitSeq(list, ",") {
		if number == "" || strings.Trim(number, "0123456789") != "" {
			return Verdict{Problem: "must be like db=0 or db=0,3"}, true
		}
	}
	return Verdict{Since: databaseRules}, true
}

// Judge returns what is known of an ACL rule that allows (sign "+") or denies ("-")
// a command, subcommand (config|get), first argument (select|0) or category (@read),
// in any case.
func Judge(sign, name string, modules Modules) Verdict {
	lower := strings.ToLower(name)
	if !hasForm(lower) {
		return Verdict{Problem: "must be a command, a subcommand (config|get) or a category (@read)"}
	}
	first, argument, found := since(lower)
	switch {
	case argument && sign == "-":
		return Verdict{Problem: "the first argument of a command can be allowed, not denied"}
	case found:
		return Verdict{Since: first}
	case modules == SomeModules:
		return Verdict{Since: v1alpha1.Versions()[0]}
	}
	near := closest(lower)
	switch {
	case near != "":
		return Verdict{Unknown: true, Problem: fmt.Sprintf("unknown to every version; did you mean %q?", near)}
	case modules == MaybeModules:
		return Verdict{Since: v1alpha1.Versions()[0]}
	}
	return Verdict{Unknown: true, Problem: "unknown to every version"}
}
