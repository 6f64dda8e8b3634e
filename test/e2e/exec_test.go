// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

//go:build cluster

package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/remotecommand"
)

// exec runs a command in the first container of a pod; the result is all that it printed.
func (p *place) exec(pod, input string, command ...string) (string, error) {
	p.Helper()
	set, err := kubernetes.NewForConfig(p.config)
	if err != nil {
		p.Fatal(err)
	}
	request := set.CoreV1().RESTClient().Post().Resource("pods").Namespace(p.namespace).Name(pod).SubResource("exec").
		VersionedParams(&corev1.PodExecOptions{
			Container: "server", Command: command, Stdin: input != "", Stdout: true, Stderr: true,
		}, scheme.ParameterCodec)
	executor, err := remotecommand.NewWebSocketExecutor(p.config, "GET", request.URL().String())
	if err != nil {
		p.Fatal(err)
	}
	out := &transcript{}
	options := remotecommand.StreamOptions{Stdout: out, Stderr: out}
	if input != "" {
		options.Stdin = strings.NewReader(input)
	}
	err = executor.StreamWithContext(p.Context(), options)
	return strings.TrimSpace(out.String()), err
}

// logs are what a container of a pod has printed.
func (p *place) logs(pod, container string) string {
	p.Helper()
	set, err := kubernetes.NewForConfig(p.config)
	if err != nil {
		p.Fatal(err)
	}
	text, err := set.CoreV1().Pods(p.namespace).GetLogs(pod, &corev1.PodLogOptions{Container: container}).DoRaw(p.Context())
	if err != nil {
		p.Fatal(err)
	}
	return string(text)
}

// transcript is what a command printed, on both of its outputs, which are read at once.
type transcript struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (t *transcript) Write(data []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.Write(data)
}

func (t *transcript) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.String()
}

// visitor is a pod of the namespace that is no part of any cluster, and calls them as an
// application would.
type visitor struct {
	*place
	options []string // of valkey-cli
}

// restricted is a pod with a server's image that Pod Security "restricted" lets pass. It
// does nothing.
func restricted(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PodSpec{
			TerminationGracePeriodSeconds: new(int64),
			SecurityContext: &corev1.PodSecurityContext{
				RunAsUser: new(int64(999)), RunAsNonRoot: new(true),
				SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
			Containers: []corev1.Container{{
				Name: "server", Image: "docker.io/valkey/valkey:9.1", Command: []string{"sleep", "infinity"},
				SecurityContext: &corev1.SecurityContext{
					AllowPrivilegeEscalation: new(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
				},
			}},
		},
	}
}

func (p *place) visitor() visitor {
	p.Helper()
	pod := restricted("visitor")
	p.create(pod)
	p.until(patience, func() error {
		if pod := p.pod("visitor"); !ready(pod) {
			return errors.New("the visitor does not run")
		}
		return nil
	})
	return visitor{place: p}
}

// ask sends one command to a host. The password is no argument: those are seen by others.
func (v visitor) ask(host, password string, command ...string) (string, error) {
	v.Helper()
	line := append([]string{"timeout", "10", "valkey-cli", "-h", host}, v.options...)
	return v.exec("visitor", password, append([]string{"sh", "-c", `read -r VALKEYCLI_AUTH; export VALKEYCLI_AUTH REDISCLI_AUTH="$VALKEYCLI_AUTH"; exec "$@"`, "ask"}, append(line, command...)...)...)
}

// must is ask that gets an answer.
func (v visitor) must(host, password, want string, command ...string) {
	v.Helper()
	if out, err := v.ask(host, password+"\n", command...); err != nil || out != want {
		v.Errorf("%s to %s: %v, %q, want %q", strings.Join(command, " "), host, err, out, want)
	}
}

// soon is must that takes the time which kube-proxy and the caches of names take to see
// that a Service has another pod, or another address.
func (v visitor) soon(host, password, want string, command ...string) {
	v.Helper()
	v.until(patience, func() error {
		out, err := v.ask(host, password+"\n", command...)
		if err == nil && out != want {
			err = errors.New("it is another answer")
		}
		if err != nil {
			return fmt.Errorf("%s to %s: %w: %q, want %q", strings.Join(command, " "), host, err, out, want)
		}
		return nil
	})
}
