// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package localpod

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/valkey-render/valkey-render/render/script"
)

// Probe runs a probe of the server's container once: script.ProbeStartup,
// ProbeLiveness or ProbeReadiness. The error is what the probe said.
func (p *Pod) Probe(ctx context.Context, which string) error {
	probe := p.probe(which)
	if probe == nil || probe.Exec == nil {
		return fmt.Errorf("%s: no %s probe", p.id(), which)
	}
	seconds := max(probe.TimeoutSeconds, 1)
	ctx, cancel := context.WithTimeout(ctx, time.Duration(seconds)*time.Second)
	defer cancel()
	said, err := p.run(ctx, probe.Exec.Command)
	if err != nil {
		if said == "" {
			said = err.Error()
		}
		return fmt.Errorf("%s: %s", p.id(), said)
	}
	return nil
}

func (p *Pod) probe(which string) *corev1.Probe {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.template == nil {
		return nil
	}
	c, err := server(p.template)
	if err != nil {
		return nil
	}
	switch which {
	case script.ProbeStartup:
		return c.StartupProbe
	case script.ProbeLiveness:
		return c.LivenessProbe
	case script.ProbeReadiness:
		return c.ReadinessProbe
	}
	return nil
}

// run runs a command in the container until it ends or ctx does, and returns what it
// wrote, on one line.
func (p *Pod) run(ctx context.Context, command []string) (said string, err error) {
	p.mu.Lock()
	if p.template == nil {
		p.mu.Unlock()
		return "", errors.New("not there")
	}
	line, env, err := p.commandLine(command, nil)
	p.mu.Unlock()
	if err != nil {
		return "", err
	}
	out, err := os.CreateTemp(p.host.opts.Dir, "exec-")
	if err != nil {
		return "", err
	}
	defer os.Remove(out.Name())
	defer out.Close()
	process, err := p.host.spawner.start(line, env, p.root(), out.Name())
	if err != nil {
		return "", err
	}
	select {
	case <-process.exited:
		if process.code != 0 {
			err = fmt.Errorf("exit status %d", process.code)
		}
	case <-ctx.Done():
		process.kill()
		<-process.exited
		err = ctx.Err()
	}
	text, readErr := os.ReadFile(out.Name())
	if readErr != nil {
		return "", readErr
	}
	return strings.Join(strings.Fields(string(bytes.TrimSpace(text))), " "), err
}

// Await returns once the readiness probe succeeds. Without Options.Keep a container
// that ended is ErrEnded. The error of a ctx that is done has the probe's last words.
func (p *Pod) Await(ctx context.Context) error {
	for pause := 20 * time.Millisecond; ; pause = min(2*pause, 250*time.Millisecond) {
		last := p.Probe(ctx, script.ProbeReadiness)
		if last == nil {
			return nil
		}
		if !p.host.opts.Keep && !p.Running() {
			return fmt.Errorf("%s: %w:\n%s", p.id(), ErrEnded, p.LogTail())
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: not ready: %w", ctx.Err(), last)
		case <-time.After(pause):
		}
	}
}

// Await returns once every pod that the StatefulSets ask for is ready.
func (h *Host) Await(ctx context.Context) error {
	for _, p := range h.Pods() {
		if err := p.Await(ctx); err != nil {
			return err
		}
	}
	return nil
}
