// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"context"
	"errors"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/job"
	"github.com/valkey-render/valkey-render/topologyjob/outcome"
)

// servedFingerprint is that of the certificate that all pods serve.
const servedFingerprint = "5f0a2c"

// nodes runs pods and Jobs until the test is over: pods of clusters are ready at once, those
// of Jobs end as they are told to, and a bootstrap forms the cluster.
func (r *rig) nodes() {
	ctx, cancel := context.WithCancel(r.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			if err := r.serve(ctx); err != nil && ctx.Err() == nil {
				r.Errorf("nodes: %v", err)
				return
			}
			select {
			case <-ctx.Done():
			case <-time.After(100 * time.Millisecond):
			}
		}
	}()
	r.Cleanup(func() { cancel(); <-done })
}

func (r *rig) serve(ctx context.Context) error {
	var pods corev1.PodList
	if err := r.admin.List(ctx, &pods, client.InNamespace(r.namespace)); err != nil {
		return err
	}
	for i := range pods.Items {
		p := &pods.Items[i]
		if p.Status.Phase != corev1.PodPending {
			continue
		}
		next := p.DeepCopy()
		called := p.Labels[batchv1.JobNameLabel]
		switch {
		case called != "":
			if err := r.end(ctx, next, called); err != nil {
				return err
			}
		case !r.mounts(ctx, p):
			continue
		default:
			// They may go between two looks.
			if err := r.obey(ctx, p.Labels[name.LabelCluster]); err != nil {
				continue
			}
			next.Status.Phase = corev1.PodRunning
			next.Status.PodIP = fmt.Sprintf("10.1.%d.%d", i/250, i%250+1)
			next.Status.PodIPs = []corev1.PodIP{{IP: next.Status.PodIP}}
			next.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()}}
			next.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "server", Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}}}}
		}
		if err := r.admin.Status().Patch(ctx, next, client.MergeFrom(p)); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}

// obey has the servers of a cluster read their Secrets.
func (r *rig) obey(ctx context.Context, cluster string) error {
	files, system := &corev1.Secret{}, &corev1.Secret{}
	err := errors.Join(
		r.admin.Get(ctx, types.NamespacedName{Namespace: r.namespace, Name: name.ACLSecret(cluster)}, files),
		r.admin.Get(ctx, types.NamespacedName{Namespace: r.namespace, Name: name.SystemSecret(cluster)}, system),
	)
	if err == nil {
		r.model.obey(r, types.NamespacedName{Namespace: r.namespace, Name: cluster}, files, system)
	}
	return err
}

// mounts reports whether a pod of a cluster has the Secrets that it starts with.
func (r *rig) mounts(ctx context.Context, p *corev1.Pod) bool {
	// It is written last.
	key := types.NamespacedName{Namespace: r.namespace, Name: name.ACLSecret(p.Labels[name.LabelCluster])}
	return r.admin.Get(ctx, key, &corev1.Secret{}) == nil
}

// end ends the pod of a Job.
func (r *rig) end(ctx context.Context, p *corev1.Pod, called string) error {
	r.mu.Lock()
	result := r.result
	r.mu.Unlock()
	if result == "" {
		return nil
	}
	j := &batchv1.Job{}
	if err := r.admin.Get(ctx, types.NamespacedName{Namespace: r.namespace, Name: called}, j); err != nil {
		return client.IgnoreNotFound(err)
	}
	kind := j.Annotations[job.AnnotationKind]
	if kind == job.Handover && result == outcome.Converged {
		r.model.handOver(types.NamespacedName{Namespace: r.namespace, Name: j.Labels[name.LabelCluster]}, j.Spec.Template.Spec.Containers[0].Args)
	}
	if (kind == job.ACL || kind == job.Rotate) && result == outcome.Converged {
		// Its pod waits for Secrets that are not there, as a kubelet has it wait.
		if err := r.obey(ctx, j.Labels[name.LabelCluster]); err != nil {
			return client.IgnoreNotFound(err)
		}
	}
	if kind == job.Bootstrap && result == outcome.Converged {
		r.model.form(types.NamespacedName{Namespace: r.namespace, Name: j.Labels[name.LabelCluster]}, true)
	}
	left := outcome.Outcome{Kind: kind, Result: result, Message: "words of the Job"}
	if kind == job.TLS && result == outcome.Converged {
		left.Fingerprint = servedFingerprint
	}
	data, err := left.JSON()
	if err != nil {
		return err
	}
	p.Status.Phase = corev1.PodSucceeded
	if result != outcome.Converged {
		p.Status.Phase = corev1.PodFailed
	}
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "job", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: int32(result.ExitCode()), FinishedAt: metav1.Now(), Message: string(data),
	}}}}
	return nil
}
