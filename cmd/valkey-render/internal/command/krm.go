// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/valkey-render/valkey-render/cmd/valkey-render/internal/source"
	"github.com/valkey-render/valkey-render/render/finding"
	"github.com/valkey-render/valkey-render/render/load"
	"github.com/valkey-render/valkey-render/render/write"
)

// maxResourceList is the most that is read of a ResourceList: it holds all
// objects of a package, not only specs.
const maxResourceList = 64 << 20

// function is the KRM function: a ResourceList in, one out, with the findings as
// its results also when they are errors.
func (r *buildRunner) function(ctx context.Context) error {
	data, err := await(ctx, func() ([]byte, error) {
		return io.ReadAll(io.LimitReader(r.sys.In, maxResourceList+1))
	})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return r.unreadable(finding.Unreadable, err.Error())
	case len(data) > maxResourceList:
		return r.unreadable(finding.TooLarge, fmt.Sprintf("ResourceList is larger than %d MiB", maxResourceList>>20))
	}
	list, err := write.ReadResourceList(data)
	if err != nil {
		return r.unreadable(finding.ResourceList, err.Error())
	}
	// A list without specs passes through: the function runs over every package.
	result := renderSources(list.Sources(), nil, load.Options{Namespace: r.input.namespace, AllowEmpty: true}, "", cmp.Or(r.input.jobImage, r.sys.JobImage))
	out, findings, err := list.Output(result.Objects, result.Findings)
	if err != nil {
		return err
	}
	say(r.sys, findings)
	if err := emit(r.sys.Out, out); err != nil {
		return err
	}
	if findings.HasErrors() {
		return errFindings
	}
	return nil
}

// unreadable says why there is no list to answer with.
func (r *buildRunner) unreadable(code finding.Code, message string) error {
	f := finding.New(code, message)
	f.File = source.Stdin
	say(r.sys, finding.List{f})
	return errFindings
}
