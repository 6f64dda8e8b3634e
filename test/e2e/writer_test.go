// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

//go:build cluster

package e2e

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/valkey-render/valkey-render/internal/traffic"
)

// writing is a run of test/writer in the network of node 1.
type writing struct {
	*place
	command *exec.Cmd
	in      io.WriteCloser
	said    chan said
	once    sync.Once
}

// said is a line of its output.
type said struct {
	Started string          `json:"started"`
	Lap     *traffic.Lap    `json:"lap"`
	Report  *traffic.Report `json:"report"`
}

// writes begins to write with the password of the default user, and returns when every
// connection has written something.
func (p *place) writes(flags ...string) *writing {
	p.Helper()
	program := os.Getenv("LOCALCLUSTER")
	if program == "" {
		p.Fatal("the writer runs in the network of a node of localcluster: unset KUBECONFIG")
	}
	args := append([]string{"--source", "..", "--name", os.Getenv("LOCALCLUSTER_NAME"), "run", "--node", "1", "--", os.Getenv("WRITER")}, flags...)
	w := &writing{place: p, command: exec.Command(program, args...), said: make(chan said)}
	w.command.Stderr = os.Stderr
	in, err := w.command.StdinPipe()
	if err != nil {
		p.Fatal(err)
	}
	out, err := w.command.StdoutPipe()
	if err != nil {
		p.Fatal(err)
	}
	w.in = in
	if err := w.command.Start(); err != nil {
		p.Fatal(err)
	}
	p.Cleanup(w.end)
	go w.read(out)
	w.tell(p.password("cache-auth", "password"))
	if s := w.hear(); s.Started == "" {
		p.Fatalf("the writer did not start: %+v", s)
	}
	return w
}

// toCluster and toPrimary are where to write.
func (p *place) toCluster() []string {
	return []string{"-cluster", "-address", "cache." + p.namespace + ".svc:6379"}
}

func (p *place) toPrimary() []string {
	return []string{"-address", "cache-primary." + p.namespace + ".svc:6379"}
}

func (w *writing) read(out io.Reader) {
	defer close(w.said)
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var s said
		if json.Unmarshal(line, &s) == nil {
			w.said <- s
		}
	}
}

func (w *writing) tell(line string) {
	w.Helper()
	if _, err := fmt.Fprintln(w.in, line); err != nil {
		w.Fatalf("writer: %v", err)
	}
}

func (w *writing) hear() said {
	w.Helper()
	select {
	case s, more := <-w.said:
		if !more {
			w.Fatalf("writer: it ended: %v", w.command.Wait())
		}
		return s
	case <-time.After(2 * patience):
		w.Fatal("writer: nothing is heard of it")
	}
	return said{}
}

// lap is what was written since the last one.
func (w *writing) lap() traffic.Lap {
	w.Helper()
	w.tell("lap")
	s := w.hear()
	if s.Lap == nil {
		w.Fatalf("writer: no lap: %+v", s)
	}
	return *s.Lap
}

// flows waits until a second passes in which all shards are written to and nothing fails.
func (w *writing) flows() {
	w.Helper()
	w.until(patience, func() error {
		w.lap()
		if err := pause(w.Context(), time.Second); err != nil {
			return err
		}
		l := w.lap()
		if l.Failed > 0 {
			return fmt.Errorf("writes fail: %s", l)
		}
		for _, s := range l.Shards {
			if s.Acknowledged == 0 {
				return fmt.Errorf("slots %s are not written to: %s", s.Slots, l)
			}
		}
		return nil
	})
}

// logsIn has new connections log in with another password.
func (w *writing) logsIn(password string) { w.Helper(); w.tell("password " + password) }

// stop ends the writing and returns what there is to say of it, with all keys read back.
func (w *writing) stop() traffic.Report {
	w.Helper()
	if err := w.in.Close(); err != nil {
		w.Fatal(err)
	}
	s := w.hear()
	if s.Report == nil {
		w.Fatalf("writer: no report: %+v", s)
	}
	if s.Report.Unread > 0 {
		w.Errorf("%d keys could not be read back", s.Report.Unread)
	}
	return *s.Report
}

// end ends the program, however far it is.
func (w *writing) end() {
	w.once.Do(func() {
		_ = w.command.Process.Kill()
		for range w.said {
			// It may be about to say something.
		}
		err := w.command.Wait()
		if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
			w.Log(err)
		}
	})
}
