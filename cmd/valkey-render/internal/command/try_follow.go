// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/valkey-render/valkey-render/cmd/valkey-render/internal/source"
	"github.com/valkey-render/valkey-render/internal/localpod"
	"github.com/valkey-render/valkey-render/internal/trial"
	"github.com/valkey-render/valkey-render/render/finding"
	"github.com/valkey-render/valkey-render/render/load"
)

// read reads and renders the input, and says what was found.
func (r *tryRunner) read(ctx context.Context) (trial.Rendering, error) {
	sources, unread := r.sources()
	rendering, err := await(ctx, func() (trial.Rendering, error) {
		opts := load.Options{Namespace: r.input.namespace, AllowEmpty: unread.HasErrors()}
		if r.input.ignoreOthers {
			opts.Foreign = load.ForeignIgnore
		}
		set, parsed := load.Parse(sources, opts)
		before := append(slices.Clone(unread), parsed...)
		if before.HasErrors() {
			return trial.Rendering{Findings: before}, nil
		}
		out, err := trial.Render(set, trial.Override{Version: r.version, Port: r.port})
		out.Findings = append(before, out.Findings...).Sorted()
		return out, err
	})
	if err != nil {
		return trial.Rendering{}, err
	}
	say(r.sys, rendering.Findings)
	if rendering.Findings.HasErrors() {
		fmt.Fprintf(r.sys.Err, "%s; nothing was started\n", tally(rendering.Findings))
		return trial.Rendering{}, errFindings
	}
	return rendering, nil
}

func (r *tryRunner) sources() ([]load.Source, finding.List) {
	return source.Read(r.sys, source.Request{
		Files: r.input.files, Kustomizations: r.input.kustomizations, Recursive: r.input.recursive,
	})
}

// fingerprint differs when what was read does.
func fingerprint(sources []load.Source, unread finding.List) string {
	var all strings.Builder
	for _, s := range sources {
		fmt.Fprintf(&all, "%q %q\n", s.Name, s.Data)
	}
	all.Write(unread.Text())
	return all.String()
}

// follow makes what runs into what the input says, whenever it changes, until ctx is
// done.
func (r *tryRunner) follow(ctx context.Context, t *trial.Trial) {
	if slices.Contains(r.input.files, "-") {
		// It cannot be read again.
		<-ctx.Done()
		return
	}
	last := fingerprint(r.sources())
	// An editor may write a file in several steps: what was seen twice is whole.
	seen := last
	trial.Poll(ctx, func() {
		now := fingerprint(r.sources())
		if now == last || now != seen {
			seen = now
			return
		}
		last = now
		r.step(ctx, t)
	})
}

func (r *tryRunner) step(ctx context.Context, t *trial.Trial) {
	rendering, err := r.read(ctx)
	switch {
	case errors.Is(err, errFindings):
		r.say.notFollowed("the input has errors: what runs stays as it is")
		return
	case err != nil:
		r.say.notFollowed(err.Error())
		return
	}
	err = t.Follow(ctx, rendering)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		r.say.notFollowed(err.Error())
	default:
		r.say.followed(ctx, t)
	}
}

// explain says what a person can do about a cluster that did not start.
func (r *tryRunner) explain(ctx context.Context, err error) error {
	if ctx.Err() != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return ctx.Err()
	}
	if _, ok := errors.AsType[*localpod.PortTakenError](err); ok {
		return &outcomeError{fmt.Errorf("%w\nEnd that program, or use another port with --port", err)}
	}
	if _, ok := errors.AsType[*localpod.ModuleError](err); ok {
		return fmt.Errorf("%w: --module name=file", err)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		r.say.note(err.Error())
	}
	return &outcomeError{err}
}
