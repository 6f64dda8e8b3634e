// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package localpod

import (
	"context"
	"time"

	"github.com/valkey-render/valkey-render/render/script"
)

// longestPause is how long a container that keeps ending waits; the kubelet goes on
// to five minutes, which nobody at a terminal would.
const longestPause = 10 * time.Second

// keep starts the goroutine that does what the kubelet does with a pod: it starts the
// container again when it ends, and probes it. life is held.
func (p *Pod) keep() {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	p.mu.Lock()
	p.keeper = func() {
		cancel()
		<-done
	}
	p.mu.Unlock()
	go func() {
		defer close(done)
		p.keepRunning(ctx)
	}()
}

// unkeep ends it. What is running stays.
func (p *Pod) unkeep() {
	p.mu.Lock()
	end := p.keeper
	p.keeper = nil
	p.mu.Unlock()
	if end != nil {
		end()
	}
}

func (p *Pod) keepRunning(ctx context.Context) {
	pause := time.Duration(0)
	for {
		process := p.running()
		began := time.Now()
		probing, stop := context.WithCancel(ctx)
		probed := make(chan struct{})
		go func() {
			defer close(probed)
			p.probeForEver(probing, process)
		}()
		select {
		case <-ctx.Done():
		case <-process.exited:
		}
		stop()
		<-probed
		if ctx.Err() != nil {
			return
		}
		p.host.event(p.name, "its container ended (%s): starting it again", process.how())
		if time.Since(began) > longestPause {
			pause = 0
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		pause = min(max(2*pause, time.Second), longestPause)
		if !p.startAgain(ctx) {
			return
		}
	}
}

// startAgain says whether the container runs again. Who stops the pod has its lock
// and waits for this goroutine to end, so the lock is not waited for.
func (p *Pod) startAgain(ctx context.Context) bool {
	for {
		if ctx.Err() != nil {
			return false
		}
		if p.life.TryLock() {
			err := p.startContainer()
			p.life.Unlock()
			if err == nil {
				p.again()
				return true
			}
			p.host.event(p.name, "cannot be started: %v", err)
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(time.Second):
		}
	}
}

// probeForEver runs the startup probe until it succeeds, then the other two, each in
// its own period, and ends the container when liveness fails too often.
func (p *Pod) probeForEver(ctx context.Context, process *process) {
	if !p.repeat(ctx, script.ProbeStartup, func(err error) bool { return err == nil }) {
		return
	}
	go p.repeat(ctx, script.ProbeReadiness, func(error) bool { return false })
	failures, most := int32(0), int32(3)
	if probe := p.probe(script.ProbeLiveness); probe != nil && probe.FailureThreshold > 0 {
		most = probe.FailureThreshold
	}
	p.repeat(ctx, script.ProbeLiveness, func(err error) bool {
		failures++
		if err == nil {
			failures = 0
		}
		if failures >= most && ctx.Err() == nil {
			p.host.event(p.name, "liveness failed %d times: %v", failures, err)
			process.kill()
			return true
		}
		return false
	})
}

// repeat runs a probe in its period until enough says so of its result, and reports
// whether it did before ctx was done.
func (p *Pod) repeat(ctx context.Context, which string, enough func(error) bool) bool {
	probe := p.probe(which)
	if probe == nil {
		return true
	}
	for {
		if enough(p.Probe(ctx, which)) {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(time.Duration(max(probe.PeriodSeconds, 1)) * time.Second):
		}
	}
}
