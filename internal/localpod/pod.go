// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package localpod

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	corev1 "k8s.io/api/core/v1"

	"github.com/valkey-render/valkey-render/render/name"
)

// Pod is one pod of a StatefulSet, that exists or not. Its name is its identity: a
// pod that is deleted and started again is the same Pod.
type Pod struct {
	host      *Host
	name, set string
	ordinal   int

	// life is held while the pod is started, stopped or deleted.
	life sync.Mutex

	mu sync.Mutex
	// template is what it was made of; nil while it does not exist.
	template           *corev1.PodTemplateSpec
	claims             []string
	namespace, cluster string
	sentinel           bool
	paths              paths
	process            *process
	// keeper ends the goroutine that keeps the container running, if there is one.
	keeper   func()
	restarts int
}

// Name is the pod's name.
func (p *Pod) Name() string { return p.name }

// id is the pod's name with its kind, as errors have it.
func (p *Pod) id() string { return "Pod/" + p.name }

// StatefulSet is the name of the StatefulSet, which need not exist any more.
func (p *Pod) StatefulSet() string { return p.set }

// Ordinal is the last part of the name.
func (p *Pod) Ordinal() int { return p.ordinal }

// Address is the pod's, also while it does not exist.
func (p *Pod) Address() netip.Addr { return p.host.network.address(p.name) }

// Log is the file with everything that its containers and hooks wrote.
func (p *Pod) Log() string { return filepath.Join(p.host.opts.Dir, "logs", p.name+".log") }

// root is what stands for the container's root directory.
func (p *Pod) root() string { return filepath.Join(p.host.opts.Dir, p.name) }

func (p *Pod) exists() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.template != nil
}

// Running says whether the container's process is there.
func (p *Pod) Running() bool {
	process := p.running()
	return process != nil && !process.ended()
}

func (p *Pod) running() *process {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.process
}

// Restarts counts how often the container was started again.
func (p *Pod) Restarts() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.restarts
}

// Outdated says whether the pod was made of a template that is not its
// StatefulSet's any more.
func (p *Pod) Outdated() bool {
	p.host.mu.Lock()
	set := p.host.sets[p.set]
	p.host.mu.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	if set == nil || p.template == nil {
		return false
	}
	then, err := json.Marshal(p.template)
	now, err2 := json.Marshal(set.Spec.Template)
	return err != nil || err2 != nil || string(then) != string(now)
}

// Start makes the pod of its StatefulSet's template, if it does not exist, and
// starts its container, if that does not run. It does not wait for the server.
func (p *Pod) Start() error {
	// One that waits to start the container again would be in the way.
	p.unkeep()
	p.life.Lock()
	defer p.life.Unlock()
	if !p.Running() {
		if err := p.bring(); err != nil {
			return fmt.Errorf("%s: %w", p.id(), err)
		}
	}
	if p.host.opts.Keep {
		p.keep()
	}
	return nil
}

func (p *Pod) bring() error {
	if !p.exists() {
		if err := p.create(); err != nil {
			return err
		}
	}
	return p.startContainer()
}

func (p *Pod) create() error {
	p.host.mu.Lock()
	set := p.host.sets[p.set]
	p.host.mu.Unlock()
	if set == nil {
		return fmt.Errorf("StatefulSet/%s is not there", p.set)
	}
	container, err := server(&set.Spec.Template)
	if err != nil {
		return err
	}
	p.mu.Lock()
	p.template = set.Spec.Template.DeepCopy()
	p.namespace = set.Namespace
	p.cluster = set.Spec.Template.Labels[name.LabelCluster]
	p.sentinel = set.Spec.Template.Labels[name.LabelComponent] == name.ComponentSentinel
	p.claims = nil
	for _, claim := range set.Spec.VolumeClaimTemplates {
		p.claims = append(p.claims, claim.Name)
	}
	p.paths = newPaths(p.root(), container)
	p.restarts = 0
	p.mu.Unlock()
	err = p.layVolumes()
	if err != nil {
		p.forget()
		return err
	}
	for _, other := range leftOut(&set.Spec.Template) {
		p.host.event(p.name, "container %s is not run: only servers are", other)
	}
	return nil
}

// startContainer starts the server's container. life is held.
func (p *Pod) startContainer() error {
	c, err := server(p.template)
	if err != nil {
		return err
	}
	line, env, err := p.commandLine(c.Command, c.Args)
	if err != nil {
		return err
	}
	for _, port := range c.Ports {
		if err := checkFree(p.Address(), port.ContainerPort); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Dir(p.Log()), 0o700); err != nil {
		return err
	}
	// A server listens on all addresses in its pod, which here are other pods' too.
	address := p.Address().String()
	line = append(line, "--bind", address, "--bind-source-addr", address)
	started, err := p.host.spawner.start(line, env, p.root(), p.Log())
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.process = started
	return nil
}

// refresh brings the files of ConfigMaps and Secrets up to date.
func (p *Pod) refresh() error {
	p.life.Lock()
	defer p.life.Unlock()
	if !p.exists() {
		return nil
	}
	if err := p.fillVolumes(); err != nil {
		return fmt.Errorf("%s: %w", p.id(), err)
	}
	return nil
}

// Signal sends a signal to the container's first process: SIGSTOP and SIGCONT
// freeze and thaw a server.
func (p *Pod) Signal(signal syscall.Signal) error {
	process := p.running()
	if process == nil {
		return fmt.Errorf("%s: not running", p.id())
	}
	if err := process.signal(signal); err != nil {
		return fmt.Errorf("%s: signal %s: %w", p.id(), signal, err)
	}
	return nil
}

// Kill ends every process of the container at once, as kill -9 or the kernel does
// when memory runs out. With Options.Keep it is started again.
func (p *Pod) Kill() {
	if process := p.running(); process != nil {
		process.kill()
		<-process.exited
	}
}

// Exited is closed once the container's process has ended; nil while the pod never ran.
func (p *Pod) Exited() <-chan struct{} {
	if process := p.running(); process != nil {
		return process.exited
	}
	return nil
}

// abandon ends the pod at once, for ever.
func (p *Pod) abandon() {
	p.unkeep()
	p.life.Lock()
	defer p.life.Unlock()
	p.Kill()
}

// forget removes what does not outlive the pod.
func (p *Pod) forget() {
	p.mu.Lock()
	p.template, p.process = nil, nil
	p.mu.Unlock()
	// What is left is overwritten by the next pod of this name.
	_ = os.RemoveAll(p.root())
	_ = os.RemoveAll(p.volumes())
}

// LogTail is the end of the log, a few lines.
func (p *Pod) LogTail() string {
	text, err := os.ReadFile(p.Log())
	if err != nil {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-8):], "\n")
}

// ErrEnded says that a container ended while somebody waited for it.
var ErrEnded = errors.New("its container ended")
