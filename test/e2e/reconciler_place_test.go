// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

//go:build cluster

package e2e

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-logr/logr/funcr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/job"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/reconciler"
)

// reconcilerPod is the name of the reconciler's pod and service account.
const reconcilerPod = "valkey-reconciler"

// reconciles runs a reconciler for this namespace in a pod, with the rights that the chart
// gives it.
func (p *place) reconciles() {
	p.Helper()
	p.mayReconcile()
	p.comes()
}

// mayReconcile makes the accounts of a reconciler and of its apply Jobs.
func (p *place) mayReconcile() {
	p.Helper()
	const called = reconcilerPod
	account := metav1.ObjectMeta{Name: called}
	p.create(&corev1.ServiceAccount{ObjectMeta: account})
	p.create(&rbacv1.Role{ObjectMeta: account, Rules: slices.Concat(reconciler.Rights(), reconciler.OwnRights(name.ReconcilerLease("")))})
	p.create(&rbacv1.RoleBinding{
		ObjectMeta: account,
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Name: called, Namespace: p.namespace}},
		RoleRef:    rbacv1.RoleRef{APIGroup: "rbac.authorization.k8s.io", Kind: "Role", Name: called},
	})
	applier := metav1.ObjectMeta{Name: called + "-apply"}
	p.create(&corev1.ServiceAccount{ObjectMeta: applier})
	p.create(&rbacv1.Role{ObjectMeta: applier, Rules: reconciler.ApplyRights()})
	p.create(&rbacv1.RoleBinding{
		ObjectMeta: applier,
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Name: applier.Name, Namespace: p.namespace}},
		RoleRef:    rbacv1.RoleRef{APIGroup: "rbac.authorization.k8s.io", Kind: "Role", Name: applier.Name},
	})
}

// comes starts the pod of a reconciler that has its rights.
func (p *place) comes() {
	p.Helper()
	pod := p.reconcilerTemplate()
	pod.Name = reconcilerPod
	p.create(&corev1.Pod{ObjectMeta: pod.ObjectMeta, Spec: pod.Spec})
}

// stays is comes with a Deployment, which makes another pod when one is gone.
func (p *place) stays() {
	p.Helper()
	p.create(&appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: reconcilerPod},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: name.ReconcilerSelector()},
			Strategy: appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType},
			Template: p.reconcilerTemplate(),
		},
	})
}

// reconcilerTemplate is what the pods of the reconciler are made of.
func (p *place) reconcilerTemplate() corev1.PodTemplateSpec {
	yes, no, user := true, false, int64(65532)
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: name.ReconcilerSelector()},
		Spec: corev1.PodSpec{
			ServiceAccountName: reconcilerPod,
			SecurityContext: &corev1.PodSecurityContext{
				RunAsUser: &user, RunAsNonRoot: &yes, SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
			Containers: []corev1.Container{{
				Name: "reconciler", Image: job.Image(""), Command: []string{"/valkey-reconciler"},
				Args: []string{"--namespaces=" + p.namespace, "--max-concurrent-reconciles=2"},
				Env:  []corev1.EnvVar{{Name: "POD_NAMESPACE", Value: p.namespace}},
				SecurityContext: &corev1.SecurityContext{
					AllowPrivilegeEscalation: &no, ReadOnlyRootFilesystem: &yes, Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
				},
			}},
		},
	}
}

// goes deletes the pod of the reconciler, and waits for its end.
func (p *place) goes() {
	p.Helper()
	if err := p.api.Delete(p.Context(), p.pod(reconcilerPod)); err != nil {
		p.Fatal(err)
	}
	p.until(patience, func() error {
		err := p.api.Get(p.Context(), client.ObjectKey{Namespace: p.namespace, Name: reconcilerPod}, &corev1.Pod{})
		if err == nil {
			return errors.New("the reconciler is still there")
		}
		return client.IgnoreNotFound(err)
	})
}

// applied applies a spec and leaves the Secrets to the reconciler.
func (p *place) applied(spec string) {
	p.Helper()
	if o := p.program(append([]string{"apply"}, p.spec(spec)...)...); o.code != 0 {
		p.Fatalf("apply: exit status %d\n%s%s", o.code, o.out, o.errOut)
	}
}

// cluster is the ValkeyCluster of the tests.
func (p *place) cluster() *v1alpha1.ValkeyCluster {
	p.Helper()
	c := &v1alpha1.ValkeyCluster{}
	if err := p.nodesAPI().Get(p.Context(), client.ObjectKey{Namespace: p.namespace, Name: "cache"}, c); err != nil {
		p.Fatal(err)
	}
	return c
}

// nodesAPI is a client that knows our kinds.
func (p *place) nodesAPI() client.Client {
	p.Helper()
	scheme, err := reconciler.Scheme()
	if err != nil {
		p.Fatal(err)
	}
	c, err := client.New(p.config, client.Options{Scheme: scheme, Log: funcr.New(func(string, string) {}, funcr.Options{})})
	if err != nil {
		p.Fatal(err)
	}
	return c
}

// isReadyCluster waits until the status says Ready of the newest generation, and until
// more holds, and returns how long that took.
func (p *place) isReadyCluster(more func(*v1alpha1.ValkeyCluster) error) time.Duration {
	p.Helper()
	begun := time.Now()
	p.until(patience, func() error {
		c := p.cluster()
		if s := c.Status; s.State != v1alpha1.StateReady || s.ObservedGeneration != c.Generation {
			return fmt.Errorf("%s %s: %s", s.State, s.Reason, s.Message)
		}
		if more == nil {
			return nil
		}
		return more(c)
	})
	return time.Since(begun)
}

// asks sends one command from a pod, as the default user.
func (p *place) asks(pod string, command ...string) (string, error) {
	p.Helper()
	line := append([]string{"sh", "-c", `read -r VALKEYCLI_AUTH; export VALKEYCLI_AUTH; exec timeout 10 valkey-cli -c "$@"`, "asks"}, command...)
	return p.exec(pod, p.password("cache-auth", "password")+"\n", line...)
}
