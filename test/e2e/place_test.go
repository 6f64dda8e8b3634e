// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

//go:build cluster

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/valkey-render/valkey-render/internal/apitest"
)

// patience is how long something may take that a busy machine of two cores does in
// seconds.
const patience = 5 * time.Minute

// place is a namespace of the cluster, with Pod Security "restricted" enforced.
type place struct {
	testing.TB
	api       client.Client
	config    *rest.Config
	namespace string
}

func newPlace(t testing.TB) *place {
	t.Helper()
	apitest.Install(t)
	p := &place{TB: t, api: apitest.Client(t), config: apitest.Config(t), namespace: apitest.Namespace(t)}
	t.Cleanup(func() {
		if t.Failed() {
			p.tell()
		}
	})
	return p
}

// tell logs what somebody looks at first who finds the test failed.
func (p *place) tell() {
	for _, args := range [][]string{
		{"get", "pods,pvc,statefulsets", "-o", "wide"},
		{"get", "events", "--sort-by=.lastTimestamp"},
		{"logs", "--all-containers", "--prefix", "--tail=15", "-l", "app.kubernetes.io/part-of=valkey-render"},
	} {
		p.Logf("kubectl %s\n%s", strings.Join(args, " "), p.kubectl(args...))
	}
}

// kubectl is what kubectl prints, whatever becomes of it. It is used when the test has failed
// and its context has ended.
func (p *place) kubectl(args ...string) string {
	program := os.Getenv("KUBECTL")
	if program == "" {
		program = "kubectl"
	}
	out, err := exec.Command(program, append([]string{"--kubeconfig", apitest.Kubeconfig(p), "-n", p.namespace}, args...)...).CombinedOutput()
	if err != nil {
		out = append(out, err.Error()...)
	}
	return string(out)
}

// until waits for a condition, which says what is missing.
func (p *place) until(within time.Duration, condition func() error) {
	p.Helper()
	var last error
	for end := time.Now().Add(within); time.Now().Before(end); time.Sleep(300 * time.Millisecond) {
		if last = condition(); last == nil {
			return
		}
		if p.Context().Err() != nil {
			break
		}
	}
	p.Fatalf("after %s still: %v", within, last)
}

// get reads an object of the namespace.
func get[T client.Object](p *place, name string, into T) T {
	p.Helper()
	if err := p.api.Get(p.Context(), types.NamespacedName{Namespace: p.namespace, Name: name}, into); err != nil {
		p.Fatal(err)
	}
	return into
}

func (p *place) pod(name string) *corev1.Pod { p.Helper(); return get(p, name, &corev1.Pod{}) }
func (p *place) set(name string) *appsv1.StatefulSet {
	p.Helper()
	return get(p, name, &appsv1.StatefulSet{})
}

func (p *place) claim(name string) *corev1.PersistentVolumeClaim {
	p.Helper()
	return get(p, name, &corev1.PersistentVolumeClaim{})
}

// pods are those of the clusters in this namespace, by the value of a label.
func (p *place) pods(label, value string) []corev1.Pod {
	p.Helper()
	var list corev1.PodList
	if err := p.api.List(p.Context(), &list, client.InNamespace(p.namespace), client.MatchingLabels{label: value}); err != nil {
		p.Fatal(err)
	}
	return list.Items
}

// create makes an object in the namespace.
func (p *place) create(o client.Object) {
	p.Helper()
	o.SetNamespace(p.namespace)
	if err := p.api.Create(p.Context(), o); err != nil {
		p.Fatal(err)
	}
}

// running is nil when every container of a pod has started for the first time, which is
// when its startup probe has passed, and none was started twice.
func running(pod *corev1.Pod) error {
	if len(pod.Status.ContainerStatuses) < len(pod.Spec.Containers) {
		return fmt.Errorf("%s: %s", pod.Name, pod.Status.Phase)
	}
	for _, c := range pod.Status.ContainerStatuses {
		if c.RestartCount > 0 {
			return fmt.Errorf("%s: container %s restarted: %+v", pod.Name, c.Name, c.LastTerminationState)
		}
		if c.Started == nil || !*c.Started {
			return fmt.Errorf("%s: container %s has not started: %+v", pod.Name, c.Name, c.State)
		}
	}
	return nil
}

// ready tells whether a pod counts as an endpoint of its Services.
func ready(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// restarts are those of all containers of a pod.
func restarts(pod *corev1.Pod) (n int32) {
	for _, c := range pod.Status.ContainerStatuses {
		n += c.RestartCount
	}
	return n
}
