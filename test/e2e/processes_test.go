// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

//go:build cluster

package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/valkey-render/valkey-render/internal/apitest"
)

// process is one of this machine, where nodes and pods of localcluster are namespaces.
type process struct {
	pid  int
	name string // of its program
}

// processes are those with a text in a file of /proc/PID.
func processes(file, text string) ([]process, error) {
	found, err := filepath.Glob("/proc/[0-9]*/" + file)
	if err != nil {
		return nil, err
	}
	var all []process
	for _, path := range found {
		data, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(data, []byte(text)) {
			continue // or it has ended since
		}
		dir := filepath.Dir(path)
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil {
			return nil, err
		}
		line, err := os.ReadFile(filepath.Join(dir, "cmdline"))
		if err != nil {
			continue
		}
		program, _, _ := strings.Cut(string(line), "\x00")
		// Servers write their role and port behind their name.
		program, _, _ = strings.Cut(program, " ")
		all = append(all, process{pid, filepath.Base(program)})
	}
	return all, nil
}

// signalled sends a signal to every process of a program in a pod.
func signalled(pod *corev1.Pod, program string, signal syscall.Signal) error {
	all, err := processes("cgroup", string(pod.UID))
	if err != nil {
		return err
	}
	sent := 0
	for _, p := range all {
		if p.name != program {
			continue
		}
		if err := syscall.Kill(p.pid, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("pod %s, process %d: %w", pod.Name, p.pid, err)
		}
		sent++
	}
	if sent == 0 {
		return fmt.Errorf("pod %s: no process %s among %v", pod.Name, program, all)
	}
	return nil
}

// server is the program that data pods run.
const server = "valkey-server"

// controlPlane are the processes of a program of the local Kubernetes. Those of pods and
// nodes have the same mark.
func (p *place) controlPlane(program string) ([]process, error) {
	all, err := processes("environ", "VALKEY_RENDER_LOCALCLUSTER="+filepath.Dir(apitest.Kubeconfig(p))+"\x00")
	if err != nil {
		return nil, err
	}
	var found []process
	for _, is := range all {
		if is.name == program {
			found = append(found, is)
		}
	}
	return found, nil
}

// apiServer is the program that is killed and frozen.
const apiServer = "kube-apiserver"

// without kills a program of the control plane as often as it is started again, for some
// time; once when that is 0. The others stay as they are.
func (p *place) without(ctx context.Context, program string, how time.Duration) error {
	killed := 0
	for end := time.Now().Add(how); ; {
		found, err := p.controlPlane(program)
		if err != nil {
			return err
		}
		for _, is := range found {
			if err := syscall.Kill(is.pid, syscall.SIGKILL); err == nil {
				killed++
			}
		}
		if !time.Now().Before(end) && killed > 0 {
			return nil
		}
		if err := pause(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}

// frozen stops a program of the control plane for some time: who asks it gets no answer.
func (p *place) frozen(ctx context.Context, program string, how time.Duration) error {
	found, err := p.controlPlane(program)
	if err != nil {
		return err
	}
	for _, is := range found {
		if err := syscall.Kill(is.pid, syscall.SIGSTOP); err != nil {
			return fmt.Errorf("process %d: %w", is.pid, err)
		}
		defer func() { _ = syscall.Kill(is.pid, syscall.SIGCONT) }()
	}
	return pause(ctx, how)
}

// pause waits, unless the context ends.
func pause(ctx context.Context, how time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(how):
		return nil
	}
}
