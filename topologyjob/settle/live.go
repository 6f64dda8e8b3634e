// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package settle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/setting"
)

// Live makes the live directives of every data pod those of the file of its version.
// files has the values that setting.ParseLive read, by version.
func Live(ctx context.Context, o Options, files map[string]map[string]string) Report {
	l := &live{run: newRun(o, func(p Pod) bool { return !p.Sentinel }), files: files}
	return l.loop(ctx, l.pass)
}

type live struct {
	*run
	files map[string]map[string]string
}

// differing is a pod that has other values than its file.
type differing struct {
	subject
	changes []setting.Change
}

func (l *live) pass(ctx context.Context) error {
	found := make([]*differing, len(l.pods))
	asked := l.each(ctx, l.pods, func(ctx context.Context, p Pod) error {
		d, err := l.look(ctx, p)
		found[slices.Index(l.pods, p)] = d
		return err
	})
	// A version that nobody has a file for would be left out of everything else too.
	if _, stuck := errors.AsType[*BlockedError](asked); stuck {
		return asked
	}
	var due []*differing
	for _, d := range found {
		switch {
		case d == nil || len(d.changes) == 0:
		case l.DryRun:
			l.would("CONFIG SET %s on %s", names(d.changes), d.pod.Name)
		default:
			due = append(due, d)
		}
	}
	return errors.Join(inTurn(ctx, l.run, due, l.give), asked)
}

// look is how a pod differs from its file.
func (l *live) look(ctx context.Context, p Pod) (*differing, error) {
	d := &differing{subject: subject{pod: p}}
	return d, l.on(ctx, p, func(conn node.Conn) error {
		about, err := info(ctx, conn, "server", "replication")
		if err != nil {
			return err
		}
		d.version, d.replica = minor(about), about["role"] == "slave"
		wanted, there := l.files[d.version]
		if !there {
			return blocked(VersionUnknown, "runs Valkey %s, and there is no live file for it", about.Version())
		}
		values, err := config(ctx, conn, setting.LiveNames(d.version, wanted)...)
		if err != nil {
			return err
		}
		d.changes = setting.LiveChanges(d.version, wanted, values)
		return nil
	})
}

// give sets the values of one pod, all in one command, which a server does whole or not
// at all, and reads them back.
func (l *live) give(ctx context.Context, d *differing) error {
	words := []string{"CONFIG", "SET"}
	for _, c := range d.changes {
		words = append(words, c.Name, c.Value)
	}
	err := l.on(ctx, d.pod, func(conn node.Conn) error {
		err := node.Ask(ctx, conn, words...).Err
		if words, refused := rejection(err); refused {
			return blocked(LiveConfigRejected, "CONFIG SET of %s refused: %s", names(d.changes), words)
		}
		return err
	})
	if err != nil {
		return err
	}
	set := names(d.changes)
	again, err := l.look(ctx, d.pod)
	if err != nil {
		return err
	}
	if len(again.changes) > 0 && again.version == d.version {
		return blocked(LiveConfigNotKept, "CONFIG SET taken, and CONFIG GET shows other values of %s", names(again.changes))
	}
	l.count("changed")
	l.say("%s: CONFIG SET %s", d.pod.Name, set)
	return nil
}

// names are the directives of changes; those that get their default back are marked.
func names(changes []setting.Change) string {
	var all []string
	for _, c := range changes {
		text := c.Name
		if c.Reset {
			text += fmt.Sprintf(" (default %q)", c.Value)
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}
