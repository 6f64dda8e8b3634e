// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package localpod

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Options of Open.
type Options struct {
	// Dir is an existing directory for all files: the claims outlive the Host, the
	// rest is of no use without it. Its path has at most MaxDir bytes and none of
	// those that a configuration file would need quotes for.
	Dir string
	// Programs is the directory with valkey-server and valkey-cli.
	Programs string
	// Path is where the scripts find other programs; "" is the PATH of this process.
	Path string
	// Shell is what /bin/sh stands for; the machine's when empty.
	Shell []string
	// Modules are the files of modules by the name that the spec gives them: the
	// images that hold them are not used.
	Modules map[string]string
	// Keep starts containers again that end, and probes them as the kubelet does.
	// Without it nothing happens that the caller did not ask for.
	Keep bool
	// OnEvent hears what happens to pods; it may be called from several goroutines.
	OnEvent func(Event)
}

// Event is something that happened to a pod.
type Event struct {
	// Pod is its name.
	Pod string
	// Message says in one line what happened.
	Message string
}

// MaxDir is how long the path of a Host's directory may be: servers make unix
// sockets below it, whose paths have at most 107 bytes.
const MaxDir = 40

// Host runs the pods of one namespace. Its methods may be called from several
// goroutines.
type Host struct {
	opts    Options
	lock    io.Closer
	network *network
	spawner *spawner

	// mu may be taken while a pod's is held, never the other way round.
	mu         sync.Mutex
	configMaps map[string]map[string][]byte
	secrets    map[string]map[string][]byte
	sets       map[string]*appsv1.StatefulSet
	pods       map[string]*Pod
	closed     bool
}

// Open makes a Host without pods. It holds the directory and a part of 127.0.0.0/8 until Close; a
// directory that was used before gets the one that it had, if nobody else has it.
func Open(opts Options) (*Host, error) {
	if err := checkDir(opts.Dir); err != nil {
		return nil, err
	}
	if opts.Path == "" {
		opts.Path = os.Getenv("PATH")
	}
	if len(opts.Shell) == 0 {
		opts.Shell = []string{"/bin/sh"}
	}
	for _, program := range []string{"valkey-server", "valkey-cli"} {
		if _, err := os.Stat(filepath.Join(opts.Programs, program)); err != nil {
			return nil, fmt.Errorf("program %s: %w", program, err)
		}
	}
	lock, err := lockDir(opts.Dir)
	if err != nil {
		return nil, err
	}
	network, err := claimNetwork(filepath.Join(opts.Dir, "network"))
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	spawner, err := newSpawner(opts.Shell)
	if err != nil {
		return nil, errors.Join(err, network.close(), lock.Close())
	}
	return &Host{
		opts: opts, lock: lock, network: network, spawner: spawner,
		configMaps: map[string]map[string][]byte{}, secrets: map[string]map[string][]byte{},
		sets: map[string]*appsv1.StatefulSet{}, pods: map[string]*Pod{},
	}, nil
}

func checkDir(dir string) error {
	switch {
	case !filepath.IsAbs(dir):
		return fmt.Errorf("directory %q: not an absolute path", dir)
	case len(dir) > MaxDir:
		return fmt.Errorf("directory %s: its path has %d bytes, more than %d: servers make unix sockets below it", dir, len(dir), MaxDir)
	case strings.ContainsFunc(dir, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`"'\$*?[]`, r) }):
		return fmt.Errorf("directory %q: a blank or special character in its path cannot be written in a configuration file", dir)
	}
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = errors.New("not a directory")
	}
	if err != nil {
		return fmt.Errorf("directory %s: %w", dir, err)
	}
	return nil
}

// Apply takes objects over as an API server does, by kind and name: StatefulSets,
// ConfigMaps and Secrets; others are left out. Pods that run see changed ConfigMaps
// and Secrets in their files; nothing is started or stopped. A StatefulSet that is
// not among the objects stays: see Remove.
func (h *Host) Apply(objects []*unstructured.Unstructured) error {
	d, err := decode(objects)
	if err != nil {
		return err
	}
	h.mu.Lock()
	for name, data := range d.configMaps {
		h.configMaps[name] = data
	}
	for name, data := range d.secrets {
		h.secrets[name] = data
	}
	for _, set := range d.sets {
		h.sets[set.Name] = set
		for ordinal := range int(replicas(set)) {
			h.declare(set.Name, ordinal)
		}
	}
	pods := h.known()
	h.mu.Unlock()
	var failed []error
	for _, p := range pods {
		failed = append(failed, p.refresh())
	}
	return errors.Join(failed...)
}

// Remove takes a StatefulSet away. Its pods run until Sync.
func (h *Host) Remove(set string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.sets, set)
}

// declare makes sure that a pod is known. The lock is held.
func (h *Host) declare(set string, ordinal int) {
	name := fmt.Sprintf("%s-%d", set, ordinal)
	if h.pods[name] == nil {
		h.pods[name] = &Pod{host: h, name: name, set: set, ordinal: ordinal}
	}
}

// known are all pods, sorted. The lock is held.
func (h *Host) known() []*Pod {
	var pods []*Pod
	for _, p := range h.pods {
		pods = append(pods, p)
	}
	slices.SortFunc(pods, func(a, b *Pod) int {
		if a.set != b.set {
			return strings.Compare(a.set, b.set)
		}
		return a.ordinal - b.ordinal
	})
	return pods
}

// Pods are the pods that the StatefulSets ask for, sorted by StatefulSet and ordinal.
func (h *Host) Pods() []*Pod {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.DeleteFunc(h.known(), func(p *Pod) bool { return !h.wanted(p) })
}

// Surplus are pods that exist and that no StatefulSet asks for any more, in the
// order in which they should go: the highest ordinal first.
func (h *Host) Surplus() []*Pod {
	h.mu.Lock()
	surplus := slices.DeleteFunc(h.known(), h.wanted)
	h.mu.Unlock()
	slices.Reverse(surplus)
	return slices.DeleteFunc(surplus, func(p *Pod) bool { return !p.exists() })
}

// wanted says whether a StatefulSet asks for the pod. The lock is held.
func (h *Host) wanted(p *Pod) bool {
	set := h.sets[p.set]
	return set != nil && p.ordinal < int(replicas(set))
}

// Pod is a pod by its name, or nil.
func (h *Host) Pod(name string) *Pod {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.pods[name]
}

// Start starts every pod that the StatefulSets ask for and that does not run.
func (h *Host) Start() error {
	var failed []error
	for _, p := range h.Pods() {
		failed = append(failed, p.Start())
	}
	return errors.Join(failed...)
}

// Close kills every process at once and gives the addresses back. The directory
// stays, with the data as a crash leaves it. A second Close does nothing.
func (h *Host) Close() error {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return nil
	}
	h.closed = true
	pods := h.known()
	h.mu.Unlock()
	for _, p := range pods {
		p.abandon()
	}
	h.spawner.close()
	return errors.Join(h.network.close(), h.lock.Close())
}

func (h *Host) event(pod, format string, args ...any) {
	if h.opts.OnEvent != nil {
		h.opts.OnEvent(Event{Pod: pod, Message: fmt.Sprintf(format, args...)})
	}
}
