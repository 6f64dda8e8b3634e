// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"strings"

	"github.com/valkey-render/valkey-render/cmd/valkey-render/internal/difference"
	"github.com/valkey-render/valkey-render/render/finding"
	"github.com/valkey-render/valkey-render/render/load"
	"github.com/valkey-render/valkey-render/render/plan"
)

// checkReport is what check prints as JSON.
type checkReport struct {
	Plan     []plan.Effect `json:"plan"`
	Findings finding.List  `json:"findings"`
	Errors   int           `json:"errors"`
	Warnings int           `json:"warnings"`
}

// findings are one for each object that differs, at the line where it begins to,
// with what the difference does.
func (d *drift) findings() finding.List {
	out := finding.List{}
	for _, c := range d.changes {
		f := finding.New(finding.GoldenDiffers, "differs from what the specs render to")
		switch {
		case c.committed == nil:
			f = finding.New(finding.GoldenMissing, "is rendered and not committed")
		case c.rendered == nil:
			f = finding.New(finding.GoldenExtra, "is committed and no longer rendered")
		}
		f.File, f.Object = c.file, c.id
		f.Line = c.line - 1 + difference.FirstDifference(c.committed, c.rendered)
		var does []string
		for _, e := range d.plan.On(c.id) {
			e.Cluster = ""
			does = append(does, e.String())
		}
		if len(does) > 0 {
			f.Message += ": " + strings.Join(does, "; ")
		}
		out = append(out, f)
	}
	return out
}

// blockedFindings are the changes that a running cluster cannot follow, where the
// spec asks for them; those that no spec asks for, at the object.
func (d *drift) blockedFindings(set load.Set) finding.List {
	var out finding.List
	for _, e := range d.plan.Blocked() {
		out = append(out, d.blocked(e, set))
	}
	return out
}

func (d *drift) blocked(e plan.Effect, set load.Set) finding.Finding {
	for _, cluster := range set.Clusters {
		title := strings.TrimPrefix(cluster.Object.Namespace+"/"+cluster.Object.Name, "/")
		if title == e.Cluster && ofSpec(e) {
			return cluster.Origin.Finding().New(e.Code, e.Path, e.Message)
		}
	}
	f := finding.New(e.Code, e.Message)
	f.Path = e.Path
	for _, c := range d.changes {
		if len(e.Objects) > 0 && c.id == e.Objects[0] {
			f.File, f.Line, f.Object = c.file, c.line-1+difference.FirstDifference(c.committed, c.rendered), c.id
		}
	}
	return f
}

// ofSpec tells whether an effect's path is one of the ValkeyCluster.
func ofSpec(e plan.Effect) bool {
	return e.Code == finding.ShardRemoved || len(e.Objects) > 0 && strings.HasPrefix(e.Objects[0], "ValkeyCluster/")
}
