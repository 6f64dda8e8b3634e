// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package localpod

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"
)

// Restart ends the container in order and starts it again in the same pod: files
// that the pod's other volumes hold stay. It does not wait for the server.
func (p *Pod) Restart(ctx context.Context) error {
	p.unkeep()
	p.life.Lock()
	err := p.terminate(ctx)
	p.life.Unlock()
	if err != nil {
		return fmt.Errorf("%s: %w", p.id(), err)
	}
	p.again()
	return p.Start()
}

// again counts a start of the container after the first.
func (p *Pod) again() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.restarts++
}

// Stop ends the container in order: the preStop hook, then SIGTERM, and after the
// grace period, or when ctx is done, SIGKILL. The pod stays, without a process.
func (p *Pod) Stop(ctx context.Context) error {
	p.unkeep()
	p.life.Lock()
	defer p.life.Unlock()
	if err := p.terminate(ctx); err != nil {
		return fmt.Errorf("%s: %w", p.id(), err)
	}
	return nil
}

// Delete is Stop, and takes the pod away: its claims stay, all else is lost.
func (p *Pod) Delete(ctx context.Context) error {
	if err := p.Stop(ctx); err != nil {
		return err
	}
	p.life.Lock()
	defer p.life.Unlock()
	p.forget()
	return nil
}

// Evaporate takes the pod away at once, as when its node is lost.
func (p *Pod) Evaporate() {
	p.unkeep()
	p.life.Lock()
	defer p.life.Unlock()
	p.Kill()
	p.forget()
}

// DeleteClaims removes the data of a pod that does not exist.
func (p *Pod) DeleteClaims() error {
	p.life.Lock()
	defer p.life.Unlock()
	if p.exists() {
		return fmt.Errorf("%s: its claims are in use", p.id())
	}
	var failed []error
	for _, claim := range p.claims {
		failed = append(failed, os.RemoveAll(p.volume(claim)))
	}
	return errors.Join(failed...)
}

// terminate is what the kubelet does with a pod that is deleted. life is held.
func (p *Pod) terminate(ctx context.Context) error {
	process := p.running()
	if process == nil || process.ended() {
		return nil
	}
	grace := p.grace()
	ctx, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	if hook := p.preStop(); hook != nil {
		said, err := p.run(ctx, hook)
		switch {
		case err != nil:
			p.host.event(p.name, "preStop failed: %v: %s", err, said)
		case said != "":
			p.host.event(p.name, "%s", said)
		}
	}
	if err := process.signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-process.exited:
		// Children of the first process end with it, as in a container.
		process.kill()
		return nil
	case <-ctx.Done():
	}
	process.kill()
	<-process.exited
	p.host.event(p.name, "killed: it did not end within %s", grace)
	return nil
}

func (p *Pod) grace() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.template == nil || p.template.Spec.TerminationGracePeriodSeconds == nil {
		return 30 * time.Second
	}
	return time.Duration(*p.template.Spec.TerminationGracePeriodSeconds) * time.Second
}

// preStop is the command of the hook, nil when there is none.
func (p *Pod) preStop() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	c, err := server(p.template)
	if err != nil || c.Lifecycle == nil || c.Lifecycle.PreStop == nil || c.Lifecycle.PreStop.Exec == nil {
		return nil
	}
	return c.Lifecycle.PreStop.Exec.Command
}

// Shutdown ends all servers at the same time with SIGTERM and no hook: there is
// nobody to hand over to. What is left when ctx is done is killed.
func (h *Host) Shutdown(ctx context.Context) {
	h.mu.Lock()
	pods := h.known()
	h.mu.Unlock()
	var wg sync.WaitGroup
	for _, p := range pods {
		wg.Go(func() {
			p.unkeep()
			p.life.Lock()
			defer p.life.Unlock()
			process := p.running()
			if process == nil || process.signal(syscall.SIGTERM) != nil {
				return
			}
			select {
			case <-process.exited:
			case <-ctx.Done():
			}
		})
	}
	wg.Wait()
}
