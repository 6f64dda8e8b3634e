// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/valkey-render/valkey-render/cmd/valkey-render/internal/system"
	"github.com/valkey-render/valkey-render/internal/trial"
)

// tryNarrator says what happens to a cluster that is tried: what it is on standard
// output, the rest on standard error; with JSON all on standard output.
type tryNarrator struct {
	sys  system.System
	json bool
	// aside leaves standard output to a command.
	aside bool

	mu  sync.Mutex
	err error
}

// tryEvent is one line of JSON.
type tryEvent struct {
	// Event is note, ready, followed, notFollowed or stopped.
	Event   string `json:"event"`
	Message string `json:"message,omitempty"`
	// Seconds it took until the cluster was ready.
	Seconds    float64           `json:"seconds,omitempty"`
	Servers    []trial.Server    `json:"servers,omitempty"`
	Connection *trial.Connection `json:"connection,omitempty"`
}

func (n *tryNarrator) event(e tryEvent) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.json {
		line, err := json.Marshal(e)
		if err == nil {
			err = emit(n.data(), append(line, '\n'))
		}
		n.keep(err)
		return
	}
	if e.Message != "" {
		fmt.Fprintf(n.sys.Err, "%s\n", e.Message)
	}
	if e.Servers != nil {
		n.keep(emit(n.data(), describe(e)))
	}
}

// keep remembers the first error of writing, which ends nothing here.
func (n *tryNarrator) keep(err error) {
	if n.err == nil {
		n.err = err
	}
}

func (n *tryNarrator) data() io.Writer {
	if n.aside {
		return n.sys.Err
	}
	return n.sys.Out
}

func (n *tryNarrator) note(text string) { n.event(tryEvent{Event: "note", Message: text}) }

func (n *tryNarrator) ready(ctx context.Context, t *trial.Trial) {
	connection := t.Connection(ctx)
	n.event(tryEvent{
		Event: "ready", Message: fmt.Sprintf("ready after %s", t.Took().Round(10*time.Millisecond)),
		Seconds: t.Took().Seconds(), Servers: t.Servers(ctx), Connection: &connection,
	})
}

func (n *tryNarrator) followed(ctx context.Context, t *trial.Trial) {
	connection := t.Connection(ctx)
	n.event(tryEvent{Event: "followed", Message: "done: what runs is what the input says", Servers: t.Servers(ctx), Connection: &connection})
}

func (n *tryNarrator) notFollowed(why string) {
	n.event(tryEvent{Event: "notFollowed", Message: why})
}

func (n *tryNarrator) stopped(kept string) {
	message := "ended; its data is gone"
	if kept != "" {
		message = "ended; its data is in " + kept
	}
	n.event(tryEvent{Event: "stopped", Message: message})
}

func (n *tryNarrator) howToEnd(in input) {
	n.note(fmt.Sprintf("Edit %s to change it. Ctrl-C ends it.", strings.Join(append(in.files, in.kustomizations...), ", ")))
}

// describe is the table of servers and how to connect.
func describe(e tryEvent) []byte {
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "POD\tADDRESS\tROLE\tSLOTS\tKEYS")
	for _, s := range e.Servers {
		role, slots := s.Role, s.Slots
		if s.Of != "" {
			role += " of " + s.Of
		}
		if slots == "" {
			slots = "-"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\n", s.Pod, s.Address, role, slots, s.Keys)
	}
	// A buffer takes everything.
	_ = w.Flush()
	fmt.Fprintf(&b, "\nconnect: %s\n", e.Connection.Command)
	return b.Bytes()
}

// tried says in a few words what a cluster is.
func tried(r trial.Rendering) string {
	c := r.Cluster
	return fmt.Sprintf("%s/%s (%s, %s)", c.Namespace, c.Name, c.EffectiveTopology(), count(int(c.PodsPerShard()), "pod")+" per shard")
}
