// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"context"
	"errors"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/decision"
	"github.com/valkey-render/valkey-render/topologyjob/job"
	"github.com/valkey-render/valkey-render/topologyjob/secret"
	"github.com/valkey-render/valkey-render/topologyjob/status"
)

// gathered is everything that was seen of one cluster at one moment.
type gathered struct {
	now time.Time
	// cluster has its defaults.
	cluster *v1alpha1.ValkeyCluster
	invalid string
	seen    status.Observed
	asked   Asked
	pods    []corev1.Pod
	jobs    []job.Record
	// secrets are those that exist, and changes what is to be written.
	secrets map[string]*corev1.Secret
	changes []secret.Change
	// known is what is known of passwords that change, step and overlap what follows for
	// Secrets.
	known   decision.Passwords
	step    secret.Rotation
	overlap bool
	resync  time.Duration
	// lockedOut is whether servers run whose passwords are gone.
	lockedOut bool
	// unborn are Jobs that are in the status and were never created.
	unborn map[string]int64
	// tokens tell what is to be set on servers, by kind of Job.
	tokens map[string]string
}

func (g *gathered) input() decision.Input {
	return decision.Input{
		Now: g.now, Cluster: g.cluster, Invalid: g.invalid, Seen: &g.seen, Asked: g.asked.Pods, Sentinels: g.asked.Sentinels, Jobs: g.jobs,
		Passwords: g.known, Secrets: len(g.changes), LockedOut: g.lockedOut, Resync: g.resync, Unborn: g.unborn, Tokens: g.tokens, Refreshed: g.refreshed(),
	}
}

// refreshed are the tokens that pods were given.
func (g *gathered) refreshed() map[string]string {
	tokens := map[string]string{}
	for i := range g.pods {
		if token := g.pods[i].Annotations[v1alpha1.AnnotationRefresh]; token != "" {
			tokens[g.pods[i].Name] = token
		}
	}
	return tokens
}

func (g *gathered) key() types.NamespacedName {
	return types.NamespacedName{Namespace: g.cluster.Namespace, Name: g.cluster.Name}
}

// subject is how errors name the cluster.
func (g *gathered) subject() string {
	return name.Subject(v1alpha1.KindCluster, g.cluster.Namespace, g.cluster.Name)
}

// gather looks at everything. An error is of a read; what is wrong with the cluster is in
// what was seen.
func (r *Reconciler) gather(ctx context.Context, c *v1alpha1.ValkeyCluster) (*gathered, error) {
	g := &gathered{now: r.Clock.Now(), cluster: c.DeepCopy(), resync: r.Resync, unborn: map[string]int64{}, tokens: map[string]string{}}
	g.seen.Failures = r.Refused.of(g.key())
	g.cluster.Default()
	if errs := g.cluster.Validate(); len(errs) > 0 {
		g.invalid = errs.ToAggregate().Error()
		g.seen.Invalid = g.invalid
	}
	err := errors.Join(
		r.objects(ctx, g),
		r.workloads(ctx, g),
		r.jobsOf(ctx, g),
		r.secretsOf(ctx, g),
	)
	if err != nil {
		return nil, err
	}
	if err := g.rendering(); err != nil {
		return nil, err
	}
	g.fingerprint()
	r.failures(ctx, g)
	if r.Orphans != nil {
		r.orphans(ctx, g)
	}
	if r.Guarded != nil {
		g.seen.Guard = r.Guarded.installed(ctx)
	}
	r.ask(ctx, g)
	r.passwords(ctx, g)
	r.secretChanges(g)
	return g, nil
}

// list reads the objects of a cluster from the cache.
func (r *Reconciler) list(ctx context.Context, g *gathered, into client.ObjectList) error {
	err := r.Client.List(ctx, into, client.InNamespace(g.cluster.Namespace), client.MatchingFields{clusterIndex: g.cluster.Name})
	if err != nil {
		return fmt.Errorf("%T of ValkeyCluster/%s list failed: %w", into, g.key(), err)
	}
	return nil
}

// objects reads those of which no more needs to be known than that they are there.
func (r *Reconciler) objects(ctx context.Context, g *gathered) error {
	for _, kind := range []struct {
		version, kind string
	}{
		{"v1", "Service"}, {"v1", "ConfigMap"}, {policyv1.SchemeGroupVersion.String(), "PodDisruptionBudget"},
	} {
		list := &metav1.PartialObjectMetadataList{TypeMeta: metav1.TypeMeta{APIVersion: kind.version, Kind: kind.kind + "List"}}
		if err := r.list(ctx, g, list); err != nil {
			return err
		}
		for i := range list.Items {
			o := &list.Items[i]
			if kind.kind == "ConfigMap" && o.Name == name.Live(g.cluster.Name) {
				g.tokens[job.LiveConfig] = o.ResourceVersion
			}
			g.seen.Objects = append(g.seen.Objects, status.Object{
				Kind: kind.kind, Name: o.Name, Generation: o.Generation, RenderHash: o.Annotations[v1alpha1.AnnotationRenderHash], Shard: -1,
			})
		}
	}
	return nil
}

// workloads reads StatefulSets, pods, claims, ValkeyNodes and ValkeyACLs.
func (r *Reconciler) workloads(ctx context.Context, g *gathered) error {
	var (
		sets   appsv1.StatefulSetList
		pods   corev1.PodList
		claims corev1.PersistentVolumeClaimList
		nodes  v1alpha1.ValkeyNodeList
		acls   v1alpha1.ValkeyACLList
	)
	for _, list := range []client.ObjectList{&sets, &pods, &claims, &nodes, &acls} {
		if err := r.list(ctx, g, list); err != nil {
			return err
		}
	}
	for i := range sets.Items {
		g.seen.StatefulSets = append(g.seen.StatefulSets, status.StatefulSetOf(&sets.Items[i]))
	}
	g.pods = pods.Items
	for i := range pods.Items {
		if pods.Items[i].Labels[name.LabelComponent] != name.ComponentJob {
			g.seen.Pods = append(g.seen.Pods, status.PodOf(&pods.Items[i]))
		}
	}
	for i := range claims.Items {
		g.seen.Claims = append(g.seen.Claims, status.ClaimOf(&claims.Items[i]))
	}
	g.seen.Nodes = nodes.Items
	for i := range acls.Items {
		g.seen.ACLs = append(g.seen.ACLs, &acls.Items[i])
	}
	return nil
}

// ask asks the servers, when there are any and a way to log in.
func (r *Reconciler) ask(ctx context.Context, g *gathered) {
	g.asked = Asked{Topology: g.cluster.EffectiveTopology(), Pods: g.places(), Sentinels: g.sentinels()}
	login, ok := g.login()
	if !ok || len(g.asked.Pods) == 0 || len(g.seen.StatefulSets) == 0 {
		return
	}
	begun := r.Clock.Now()
	view := r.Surveyor.Survey(ctx, g.key(), login, g.asked)
	r.Metrics.Surveyed(r.Clock.Since(begun))
	g.seen.View = &view
}
