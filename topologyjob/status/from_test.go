// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

func parsed[T any](t *testing.T, text string) *T {
	t.Helper()
	var object T
	if err := yaml.UnmarshalStrict([]byte(text), &object); err != nil {
		t.Fatal(err)
	}
	return &object
}

func TestWhatIsTakenOfAPod(t *testing.T) {
	const labels = `
metadata:
  name: c-2-1
  labels: {valkey-render.dev/shard: "2", apps.kubernetes.io/pod-index: "1", controller-revision-hash: c-2-7d, app.kubernetes.io/component: server}
`
	base := Pod{Name: "c-2-1", Shard: 2, Index: 1, Revision: "c-2-7d"}
	with := func(change func(*Pod)) Pod { p := base; change(&p); return p }
	exit := int32(137)
	for name, test := range map[string]struct {
		text string
		want Pod
	}{
		"ready": {
			labels + `status: {phase: Running, podIP: 10.0.0.7, conditions: [{type: Ready, status: "True"}]}`,
			with(func(p *Pod) { p.Phase, p.IP, p.Ready = corev1.PodRunning, "10.0.0.7", true }),
		},
		"without a node": {
			labels + `status: {phase: Pending, conditions: [{type: PodScheduled, status: "False", reason: Unschedulable, message: "0/3 nodes are available"}]}`,
			with(func(p *Pod) { p.Phase, p.Unschedulable = corev1.PodPending, "0/3 nodes are available" }),
		},
		"behind a gate": {
			labels + `status: {phase: Pending, conditions: [{type: PodScheduled, status: "False", reason: SchedulingGated}]}`,
			with(func(p *Pod) { p.Phase = corev1.PodPending }),
		},
		"without its image": {
			labels + `spec: {containers: [{name: server, image: "valkey:9.9"}]}
status: {phase: Pending, containerStatuses: [{name: server, image: "", imageID: "", ready: false, restartCount: 0, state: {waiting: {reason: ImagePullBackOff, message: "Back-off pulling image"}}}]}`,
			with(func(p *Pod) {
				p.Phase, p.Waiting, p.WaitingContainer, p.WaitingImage, p.WaitingMessage = corev1.PodPending, "ImagePullBackOff", "server", "valkey:9.9", "Back-off pulling image"
			}),
		},
		"crashing": {
			labels + `status: {phase: Running, containerStatuses: [{name: server, image: "", imageID: "", ready: false, restartCount: 4, lastState: {terminated: {exitCode: 137}}, state: {waiting: {reason: CrashLoopBackOff}}}]}`,
			with(func(p *Pod) {
				p.Phase, p.Waiting, p.WaitingContainer, p.Restarts, p.LastExit = corev1.PodRunning, "CrashLoopBackOff", "server", 4, &exit
			}),
		},
		"starting": {
			labels + `status: {phase: Pending, containerStatuses: [{name: server, image: "", imageID: "", ready: false, restartCount: 0, state: {waiting: {reason: ContainerCreating}}}]}`,
			with(func(p *Pod) { p.Phase = corev1.PodPending }),
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, PodOf(parsed[corev1.Pod](t, test.text))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWhatIsTakenOfAStatefulSet(t *testing.T) {
	got := StatefulSetOf(parsed[appsv1.StatefulSet](t, `
metadata: {name: c-0, generation: 3, labels: {valkey-render.dev/shard: "0", app.kubernetes.io/component: server}}
spec: {serviceName: c-nodes, selector: {}, template: {}, replicas: 2}
status: {observedGeneration: 2, replicas: 1, updateRevision: c-0-x}
`))
	if diff := cmp.Diff(StatefulSet{Name: "c-0", Replicas: 2, Pods: 1, UpdateRevision: "c-0-x"}, got); diff != "" {
		t.Error(diff)
	}
	sentinel := StatefulSetOf(parsed[appsv1.StatefulSet](t, `
metadata: {name: c-sentinel, labels: {app.kubernetes.io/component: sentinel}}
spec: {serviceName: c-sentinel, selector: {}, template: {}}
`))
	if diff := cmp.Diff(StatefulSet{Name: "c-sentinel", Shard: -1, Sentinel: true, Replicas: 1, Observed: true}, sentinel); diff != "" {
		t.Error(diff)
	}
}

func TestHowAClaimGrows(t *testing.T) {
	for name, test := range map[string]struct {
		status  string
		want    Resize
		message string
	}{
		"not at all":              {`{phase: Bound}`, ResizeNone, ""},
		"now":                     {`{conditions: [{type: Resizing, status: "True"}]}`, ResizeInProgress, ""},
		"the node is next":        {`{conditions: [{type: FileSystemResizePending, status: "True", message: "waiting for the pod"}]}`, ResizePending, "waiting for the pod"},
		"after an error":          {`{conditions: [{type: ControllerResizeError, status: "True", message: "no space"}, {type: Resizing, status: "True"}], allocatedResourceStatuses: {storage: ControllerResizeInProgress}}`, ResizeInProgress, "no space"},
		"never, says the storage": {`{conditions: [{type: ControllerResizeError, status: "True", message: "too large"}], allocatedResourceStatuses: {storage: ControllerResizeInfeasible}}`, ResizeInfeasible, "too large"},
		"never, says the node":    {`{allocatedResourceStatuses: {storage: NodeResizeInfeasible}}`, ResizeInfeasible, ""},
		"an old condition":        {`{conditions: [{type: Resizing, status: "False"}]}`, ResizeNone, ""},
	} {
		t.Run(name, func(t *testing.T) {
			claim := ClaimOf(parsed[corev1.PersistentVolumeClaim](t, "metadata: {name: data-my-c-3-1}\nspec: {}\nstatus: "+test.status))
			if claim.Resize != test.want || claim.ResizeMessage != test.message || claim.Shard != 3 || claim.Index != 1 {
				t.Errorf("%+v", claim)
			}
		})
	}
}
