// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// TestWhatUsersDo: each has a reason, and says what to do.
func TestWhatUsersDo(t *testing.T) {
	const failed = v1alpha1.StateFailed
	gitOps := cacheSpec + "delivery: GitOps\n"
	judge(t, map[string]trouble{
		"delete a Service": {
			change: func(w *world) {
				w.drop(name.KindService, "c")
				w.c.Status.Conditions[0].Status = "False"
				w.past(time.Minute)
			},
			state: failed, reason: v1alpha1.ReasonServiceError,
			conditions: []string{"Ready: False ServiceError", "Progressing: False ReconcileComplete", "Degraded:", "Available: True Serving", "Reconciling:", "Stalled:"},
			says:       []string{"Service c missing", "kubectl -n ns annotate valkeycluster c valkey-render.dev/retry="},
		},
		"delete a Service just now": {
			change: func(w *world) { w.drop(name.KindService, "c") },
			state:  v1alpha1.StateReconciling, reason: v1alpha1.ReasonReconciling,
			conditions: []string{"Ready: False ServiceError", "Progressing: True Reconciling", "Reconciling: True Reconciling"},
		},
		"change the spec of what Git delivers": {
			spec:   gitOps,
			change: func(w *world) { w.c.Generation, w.o.Rendering.Current = 2, false },
			state:  failed, reason: v1alpha1.ReasonNotRendered, conditions: []string{"Ready: False NotRendered", "Progressing: False ReconcileComplete", "Stalled:", "Available: True Serving"},
			says: []string{"valkey-render build", "spec.delivery to InCluster"},
		},
		"ask for what there is not": {
			change: func(w *world) { w.o.Invalid = "spec.version: 7.2 is unknown" },
			state:  failed, reason: v1alpha1.ReasonInvalidSpec, conditions: []string{"Stalled: True InvalidSpec", "Reconciling:"}, says: []string{"7.2"},
		},
		"delete a ConfigMap of what Git delivers": {
			spec: gitOps,
			change: func(w *world) {
				w.drop(name.KindConfigMap, "c-live")
				w.c.Status.Conditions[0].Status = "False"
				w.past(time.Minute)
			},
			state: failed, reason: v1alpha1.ReasonConfigMapError, says: []string{"ConfigMap c-live missing", "Argo CD: sync"},
		},
		"delete a budget": {
			change: func(w *world) {
				w.drop(name.KindBudget, "c-1")
				w.c.Status.Conditions[0].Status = "False"
				w.past(time.Minute)
			},
			state: failed, reason: v1alpha1.ReasonPodDisruptionBudgetError, says: []string{"PodDisruptionBudget c-1 missing"},
		},
		"delete the Secret of the system users": {
			change: func(w *world) { delete(w.o.Secrets, "c-system") },
			state:  failed, reason: v1alpha1.ReasonSystemUsersACLError, conditions: []string{"ACLApplied: False SecretMissing", "Available: True Serving"},
			says: []string{"Secret c-system is missing", "Restore it"},
		},
		"delete the Secret of the password": {
			change: func(w *world) { delete(w.o.Secrets, "c-auth") },
			state:  failed, reason: v1alpha1.ReasonSystemUsersACLError, says: []string{"Secret c-auth is missing", "The reconciler makes it"},
		},
		"refer to a Secret that is not there": {
			spec:   cacheSpec + "auth: {existingSecret: {name: mine}}\n",
			change: func(w *world) { delete(w.o.Secrets, "mine") },
			state:  failed, reason: v1alpha1.ReasonUsersACLError, conditions: []string{"ACLApplied: False SecretMissing"},
			says: []string{"Secret mine is missing", "Create it"},
		},
		"refer to a key that is not there": {
			spec:   cacheSpec + "users: [{name: app, passwordSecret: {name: mine, keys: [a, b]}}]\n",
			change: func(w *world) { w.o.Secrets["mine"] = Secret{Keys: []string{"a"}} },
			state:  failed, reason: v1alpha1.ReasonUsersACLError, says: []string{"Secret mine has no key b"},
		},
		"define a user twice": {
			spec: cacheSpec + "users: [{name: app, nopass: true}]\n",
			change: func(w *world) {
				a := &v1alpha1.ValkeyACL{ObjectMeta: metav1.ObjectMeta{Name: "more", Namespace: "ns"}}
				a.Spec.ClusterRef.Name, a.Spec.Users = "c", []v1alpha1.UserSpec{{Name: "app"}}
				w.o.ACLs = append(w.o.ACLs, a)
			},
			state: failed, reason: v1alpha1.ReasonUsersACLError, says: []string{`user "app"`, "ValkeyACL more"},
		},
		"delete the Secret of the certificate": {
			spec:   cacheSpec + "tls: {}\n",
			change: func(w *world) { delete(w.o.Secrets, "c-tls") },
			state:  failed, reason: v1alpha1.ReasonSecretMissing, says: []string{"Secret c-tls is missing", "tls.crt"},
		},
		"leave a key out of the certificate": {
			spec:   cacheSpec + "tls: {}\n",
			change: func(w *world) { w.o.Secrets["c-tls"] = Secret{Keys: []string{"tls.crt", "tls.key"}} },
			state:  failed, reason: v1alpha1.ReasonSecretMissing, says: []string{"has no key ca.crt"},
		},
	})
}

// TestWhatUsersDoToPods: the same of pods, their volumes and what they need to run.
func TestWhatUsersDoToPods(t *testing.T) {
	const failed, degraded = v1alpha1.StateFailed, v1alpha1.StateDegraded
	judge(t, map[string]trouble{
		"delete a claim that a pod uses": {
			spec:   durableSpec,
			change: func(w *world) { w.claim("data-c-0-1").Deleting = true },
			state:  degraded, reason: v1alpha1.ReasonPersistentVolumeClaimLost, says: []string{"claim data-c-0-1 is being deleted", "when pod c-0-1 stops"},
		},
		"delete a claim for good": {
			spec:   durableSpec,
			change: func(w *world) { w.drop(name.KindClaim, "data-c-0-1") },
			state:  degraded, reason: v1alpha1.ReasonPersistentVolumeClaimLost, says: []string{"claim data-c-0-1 missing: "},
		},
		"delete a volume": {
			spec:   durableSpec,
			change: func(w *world) { w.claim("data-c-0-1").Phase = corev1.ClaimLost },
			state:  degraded, reason: v1alpha1.ReasonPersistentVolumeClaimLost, says: []string{"has lost its volume"},
		},
		"scale a StatefulSet by hand": {
			change: func(w *world) { w.set("c-1").Replicas = 5 },
			state:  degraded, reason: v1alpha1.ReasonScaledByHand, says: []string{"StatefulSet c-1 asks for 5 pods, the spec for 2"},
		},
		"scale a StatefulSet to nothing": {
			change: func(w *world) { w.set("c-1").Replicas = 0; w.kill("c-1-0"); w.kill("c-1-1") },
			state:  degraded, reason: v1alpha1.ReasonScaledByHand, conditions: []string{"Available: False PrimaryDown"}, says: []string{"StatefulSet c-1 asks for 0 pods"},
		},
		"ask for pods that no node can take": {
			change: func(w *world) {
				w.kill("c-2-1")
				w.o.Pods = append(w.o.Pods, Pod{Name: "c-2-1", Shard: 2, Index: 1, Phase: corev1.PodPending, Created: started, Unschedulable: "0/3 nodes are available: insufficient memory"})
				w.set("c-2").Pods = 2
			},
			state: degraded, reason: v1alpha1.ReasonPodUnschedulable, conditions: []string{"Ready: False PodUnschedulable", "Degraded: True PodUnschedulable", "Available: True Serving"},
			says: []string{"pod c-2-1: 0/3 nodes are available: insufficient memory", "spec.scheduling"}, events: []string{"WaitingForReplicas", "PodUnschedulable"},
		},
		"name an image that is not there": {
			change: func(w *world) {
				p := w.pod("c-0-1")
				p.Ready, p.Waiting, p.WaitingContainer, p.WaitingImage, p.WaitingMessage = false, "ImagePullBackOff", "server", "valkey:9.9", "not found"
				w.silence("c-0-1")
			},
			state: degraded, reason: v1alpha1.ReasonImagePullFailed, says: []string{"image valkey:9.9: not found", "imagePullSecrets"}, events: []string{"WaitingForReplicas"},
		},
		"give a server what makes it crash": {
			change: func(w *world) {
				p, code := w.pod("c-0-1"), int32(1)
				p.Ready, p.Waiting, p.WaitingContainer, p.LastExit = false, "CrashLoopBackOff", "server", &code
				w.silence("c-0-1")
			},
			state: degraded, reason: v1alpha1.ReasonPodFailing, says: []string{"last exit code 1", "kubectl -n ns logs c-0-1 -c server --previous"}, events: []string{"WaitingForReplicas"},
		},
		"run into a quota": {
			change: func(w *world) {
				w.kill("c-0-1")
				w.settle()
				w.past(time.Minute)
				w.set("c-0").CreateFailed = `pods "c-0-1" is forbidden: exceeded quota: small`
			},
			state: degraded, reason: v1alpha1.ReasonQuotaExceeded, says: []string{"exceeded quota: small", "ResourceQuota"},
		},
		"keep pods away in another way": {
			change: func(w *world) { w.kill("c-0-1"); w.settle(); w.past(time.Minute) },
			state:  degraded, reason: v1alpha1.ReasonPodsNotCreated, says: []string{"StatefulSet c-0 has 1 of 2 pods", "describe statefulset"},
		},
		"close the network to the reconciler": {
			change: func(w *world) {
				for i := range w.o.View.Answers {
					a := &w.o.View.Answers[i]
					*a = survey.Answer{Pod: a.Pod, Problem: &survey.Problem{Code: survey.Denied, Message: "WRONGPASS"}}
				}
			},
			state: degraded, reason: v1alpha1.ReasonPrimaryUnreachable,
			conditions: []string{"Available: True Serving", "SlotsAssigned: True AllSlotsAssigned", "ClusterFormed: True TopologyComplete", "ShardsHealthy: False ShardsNotHealthy"},
			says:       []string{"Denied: WRONGPASS", "c-system"},
		},
		"grow a disk that cannot grow": {
			spec: durableSpec,
			change: func(w *world) {
				size := resource.MustParse("20Gi")
				w.c.Spec.Storage.Size = &size
				w.claim("data-c-0-0").Resize, w.claim("data-c-0-0").ResizeMessage = ResizeInfeasible, "no room"
			},
			state: failed, reason: v1alpha1.ReasonPersistentVolumeClaimResizeInfeasible, conditions: []string{"Stalled: True PersistentVolumeClaimResizeInfeasible"},
			says: []string{"no room", "allowVolumeExpansion"},
		},
		"take a namespace's ValkeyCluster away": {
			change: func(w *world) { w.o.Orphans = []string{"old-0"} },
			state:  degraded, reason: v1alpha1.ReasonOrphaned, says: []string{"old-0"},
		},
	})
}
