// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/internal/apitest"
)

// How many clusters there are, and for how long they are left alone.
const (
	fleet     = 500
	leftAlone = 5 * time.Minute
)

// BenchmarkAPIServerFleet makes a fleet of clusters at once, of a shard with two pods each,
// whose servers are a model. It reports how long each takes to its first status, and what the
// fleet costs when nothing happens, of the whole process: processor time, memory, and requests that
// write. It asserts nothing. Pods are as the API server has them, and run nowhere.
func BenchmarkAPIServerFleet(b *testing.B) {
	if os.Getenv(apitest.Variable) == "" {
		b.Log(apitest.Variable + " names no server: nothing is measured")
		return
	}
	for b.Loop() {
		r := newRig(b)
		// A look at each in half a minute, as the program does it.
		r.resync = 30 * time.Second
		stop, _ := r.reconcile(apitest.Config(b), 0)
		made := r.fleet(b)
		first := r.firstStatus(made)
		slices.Sort(first)
		b.ReportMetric(first[len(first)/2].Seconds(), "s-to-status-median")
		b.ReportMetric(first[len(first)-1].Seconds(), "s-to-status-last")
		r.ready()
		// What is under way, as closing connections, ends.
		time.Sleep(time.Minute)
		writes, used := r.wrote(""), processor()
		time.Sleep(leftAlone)
		b.ReportMetric(float64(r.wrote("")-writes), "writes-at-rest")
		b.ReportMetric(100*(processor()-used).Seconds()/leftAlone.Seconds(), "%-of-a-core-at-rest")
		b.ReportMetric(resident(b), "MiB-resident")
		stop()
	}
}

// fleet makes the clusters, and returns when each was there.
func (r *rig) fleet(b *testing.B) map[types.NamespacedName]time.Time {
	b.Helper()
	made := map[types.NamespacedName]time.Time{}
	var mu sync.Mutex
	turns := make(chan struct{}, 16)
	var wg sync.WaitGroup
	for i := range fleet {
		turns <- struct{}{}
		wg.Go(func() {
			defer func() { <-turns }()
			key := types.NamespacedName{Namespace: r.namespace, Name: "fleet" + strconv.Itoa(i)}
			r.model.form(key, true)
			begun := time.Now()
			r.cluster(key.Name, 1)
			mu.Lock()
			made[key] = begun
			mu.Unlock()
		})
	}
	wg.Wait()
	return made
}

// firstStatus is how long each took until it had a status.
func (r *rig) firstStatus(made map[types.NamespacedName]time.Time) []time.Duration {
	r.Helper()
	waiting, took := made, []time.Duration(nil)
	for end := time.Now().Add(10 * time.Minute); len(waiting) > 0; time.Sleep(200 * time.Millisecond) {
		if time.Now().After(end) {
			r.Fatalf("%d without a status", len(waiting))
		}
		for _, c := range r.clusters() {
			begun, there := waiting[client.ObjectKeyFromObject(&c)]
			if there && c.Status.ObservedGeneration > 0 {
				took = append(took, time.Since(begun))
				delete(waiting, client.ObjectKeyFromObject(&c))
			}
		}
	}
	return took
}

func (r *rig) clusters() []v1alpha1.ValkeyCluster {
	r.Helper()
	var list v1alpha1.ValkeyClusterList
	if err := r.admin.List(r.Context(), &list, client.InNamespace(r.namespace)); err != nil {
		r.Fatal(err)
	}
	return list.Items
}

// ready makes the pods ready, and waits until all clusters are.
func (r *rig) ready() {
	r.Helper()
	for end := time.Now().Add(15 * time.Minute); ; time.Sleep(5 * time.Second) {
		var pods corev1.PodList
		if err := r.admin.List(r.Context(), &pods, client.InNamespace(r.namespace)); err != nil {
			r.Fatal(err)
		}
		for i := range pods.Items {
			if pods.Items[i].Status.Phase == corev1.PodPending {
				r.runs(&pods.Items[i], i)
			}
		}
		late := map[string]int{}
		for _, c := range r.clusters() {
			if c.Status.State != v1alpha1.StateReady || len(c.Status.ActiveJobs) > 0 {
				late[string(c.Status.State)+" "+c.Status.Reason]++
			}
		}
		switch {
		case len(late) == 0 && len(pods.Items) >= 2*fleet:
			return
		case time.Now().After(end):
			r.Fatalf("%d pods, %v", len(pods.Items), late)
		}
	}
}

// runs gives a pod the status of one that is ready, and of a Job one that has ended.
func (r *rig) runs(p *corev1.Pod, i int) {
	r.Helper()
	next := p.DeepCopy()
	if called := p.Labels["batch.kubernetes.io/job-name"]; called != "" {
		if err := r.end(r.Context(), next, called); err != nil {
			r.Fatal(err)
		}
	} else {
		now := metav1.Now()
		next.Status.Phase = corev1.PodRunning
		next.Status.PodIP = fmt.Sprintf("10.%d.%d.%d", 1+i/60000, i/250%240, i%250+1)
		next.Status.PodIPs = []corev1.PodIP{{IP: next.Status.PodIP}}
		next.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: now}}
		next.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "server", Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}}}}
	}
	if err := r.admin.Status().Patch(r.Context(), next, client.MergeFrom(p)); client.IgnoreNotFound(err) != nil {
		r.Fatal(err)
	}
}

// processor is what this process has used of processors.
func processor() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// resident is the memory of this process.
func resident(b *testing.B) float64 {
	b.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		b.Fatal(err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(text))[1])
	if err != nil {
		b.Fatal(err)
	}
	return float64(pages*os.Getpagesize()) / (1 << 20)
}
