// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package guard_test

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/topologyjob/job"
)

// byReconciler are attempts of the reconciler where there is no ValkeyCluster.
func byReconciler(attempts ...attempt) []attempt {
	for i := range attempts {
		attempts[i].specs = []string{}
		if attempts[i].as == nil {
			attempts[i].as = reconciler
		}
	}
	return attempts
}

// secretOf makes a Secret with labels.
func secretOf(labels map[string]string) func(*rig) {
	return func(r *rig) {
		o := r.secret("orders-system")
		o.Labels = labels
		r.must(r.client.Create(r.t.Context(), o))
	}
}

func patchSecret(text string) func(*rig, client.Client) error {
	return func(r *rig, c client.Client) error {
		return c.Patch(r.t.Context(), r.secret("orders-system"), patch(text))
	}
}

func ownAttempts() []attempt {
	denied := func(object string) string {
		return object + ": the reconciler may not change or delete what belongs to no cluster, nor take it from one: label valkey-render.dev/cluster says whose it is"
	}
	cluster := map[string]string{"valkey-render.dev/cluster": "orders"}
	strange := func(r *rig) {
		secretOf(nil)(r)
		pods := map[string]string{"app": "other"}
		none := int32(0)
		set := r.set("other")
		set.Spec.Replicas, set.Spec.Selector = &none, &metav1.LabelSelector{MatchLabels: pods}
		set.Spec.Template.Labels = pods
		set.Spec.Template.Spec.Containers = []corev1.Container{{Name: "other", Image: "none"}}
		r.must(r.client.Create(r.t.Context(), set))
		o := newJob(r)
		// Without any it gets those of its pods.
		o.Labels = pods
		r.must(r.client.Create(r.t.Context(), o))
	}
	deleteSet := func(r *rig, c client.Client) error { return c.Delete(r.t.Context(), r.set("other")) }
	deleteJob := func(r *rig, c client.Client) error {
		return c.Delete(r.t.Context(), newJob(r), client.PropagationPolicy(metav1.DeletePropagationForeground))
	}
	return byReconciler(
		attempt{name: "the reconciler changes a Secret of others", setup: strange, act: patchSecret(`{"stringData":{"a":"b"}}`), by: "own", words: denied("Secret/NS/orders-system")},
		attempt{name: "the reconciler takes a Secret of others", setup: strange, act: patchSecret(`{"metadata":{"labels":{"valkey-render.dev/cluster":"orders"}}}`), by: "own", words: denied("Secret/NS/orders-system")},
		attempt{name: "the reconciler gives a Secret to another cluster", setup: secretOf(cluster), act: patchSecret(`{"metadata":{"labels":{"valkey-render.dev/cluster":"other"}}}`), by: "own", words: denied("Secret/NS/orders-system")},
		attempt{name: "the reconciler takes the label off a Secret", setup: secretOf(cluster), act: patchSecret(`{"metadata":{"labels":null}}`), by: "own", words: denied("Secret/NS/orders-system")},
		attempt{name: "the reconciler deletes a StatefulSet of others", setup: strange, act: deleteSet, by: "own", words: denied("StatefulSet/NS/other")},
		attempt{name: "the reconciler deletes a Job of others", setup: strange, act: deleteJob, by: "own", words: denied("Job/NS/" + jobName)},

		attempt{name: "the reconciler changes a Secret of a cluster", setup: secretOf(cluster), act: patchSecret(`{"stringData":{"a":"b"},"metadata":{"labels":{"a":"b"}}}`)},
		attempt{name: "the reconciler deletes its Job", setup: func(r *rig) { r.must(r.client.Create(r.t.Context(), newJob(r))) }, act: deleteJob},
		attempt{name: "somebody else changes a Secret of others", setup: strange, as: func(r *rig) client.Client { return r.client }, act: patchSecret(`{"stringData":{"a":"b"}}`)},
	)
}

const jobName = "orders-repair-1"

// newJob is a Job as the reconciler makes it.
func newJob(r *rig) *batchv1.Job {
	c := &v1alpha1.ValkeyCluster{ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: "orders", UID: "1"}}
	c.Default()
	o, err := job.Object(c, nil, job.Order{Kind: job.Repair}, 1, 1, "none", job.Place{})
	r.must(err)
	// Its owner is none that there is: the garbage collector would take it away.
	o.OwnerReferences = nil
	return o
}

// createJob creates one that differs in something.
func createJob(differs func(*batchv1.Job)) func(*rig, client.Client) error {
	return func(r *rig, c client.Client) error {
		o := newJob(r)
		if differs != nil {
			differs(o)
		}
		return c.Create(r.t.Context(), o)
	}
}

func jobAttempts() []attempt {
	denied := func(what string) string {
		return "Job/NS/" + jobName + ": the reconciler may start Jobs of a cluster that reach its servers, and tried " + what
	}
	const token, node = "one with the token of an account", "one that reaches the node"
	yes := true
	spec := func(differs func(*corev1.PodSpec)) func(*rig, client.Client) error {
		return createJob(func(j *batchv1.Job) { differs(&j.Spec.Template.Spec) })
	}
	volume := func(source corev1.VolumeSource) func(*corev1.PodSpec) {
		return func(p *corev1.PodSpec) {
			p.Volumes = append(p.Volumes, corev1.Volume{Name: "more", VolumeSource: source})
		}
	}
	projected := corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
		{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token"}},
	}}}
	automounted := spec(func(p *corev1.PodSpec) { p.AutomountServiceAccountToken, p.ServiceAccountName = nil, "admin" })
	const home = "valkey-system" // of guard.DefaultReconciler
	atHome := func(r *rig) {
		r.must(client.IgnoreAlreadyExists(r.client.Create(r.t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: home}})))
		r.t.Cleanup(func() {
			_ = r.client.Delete(contextOf(r), &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: home, Name: jobName}}, client.PropagationPolicy(metav1.DeletePropagationBackground))
		})
	}
	return byReconciler(
		attempt{name: "the reconciler creates a Job of nobody", act: createJob(func(j *batchv1.Job) { delete(j.Labels, "valkey-render.dev/cluster") }), by: "job", words: denied("one that belongs to no cluster")},
		attempt{name: "the reconciler creates a Job with an account", act: automounted, by: "job", words: denied(token)},
		attempt{name: "the reconciler creates a Job with a projected token", act: spec(volume(projected)), by: "job", words: denied(token)},
		attempt{name: "the reconciler creates a Job with a directory of the node", act: spec(volume(corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}})), by: "job", words: denied(node)},
		attempt{name: "the reconciler creates a Job in the network of the node", act: spec(func(p *corev1.PodSpec) { p.HostNetwork = true }), by: "job", words: denied(node)},
		attempt{name: "the reconciler creates a Job among the processes of the node", act: spec(func(p *corev1.PodSpec) { p.HostPID = true }), by: "job", words: denied(node)},
		attempt{name: "the reconciler creates a privileged Job", act: spec(func(p *corev1.PodSpec) {
			p.InitContainers = []corev1.Container{{Name: "first", Image: "none", SecurityContext: &corev1.SecurityContext{Privileged: &yes}}}
		}), by: "job", words: denied(node)},
		attempt{name: "the reconciler creates a Job with a capability", act: spec(func(p *corev1.PodSpec) {
			p.Containers[0].SecurityContext.Capabilities.Add = []corev1.Capability{"SYS_ADMIN"}
		}), by: "job", words: denied(node)},

		attempt{name: "the reconciler creates a Job", act: createJob(nil)},
		attempt{name: "the reconciler creates a Job with an account at home", setup: atHome, act: createJob(func(j *batchv1.Job) {
			j.Namespace = home
			j.Spec.Template.Spec.AutomountServiceAccountToken = &yes
		})},
		attempt{name: "somebody else creates a Job with an account", as: func(r *rig) client.Client { return r.client }, act: automounted},
	)
}
