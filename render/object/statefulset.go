// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package object

import (
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
)

// revisionHistory is how many old pod templates are kept; each holds its
// valkey.conf.
const revisionHistory = 10

// dataStatefulSet is the StatefulSet of one shard.
func dataStatefulSet(p *dataPods, shard int32) (*appsv1.StatefulSet, error) {
	c := p.cluster
	template, err := p.template(shard)
	if err != nil {
		return nil, err
	}
	meta := shardMeta(c, shard, name.StatefulSet(c.Name, shard))
	meta.Annotations = drainedFirst()
	if c.EffectiveJobs() == v1alpha1.JobsRendered {
		meta.Annotations = stays()
	}
	if c.Spec.Hibernate {
		meta.Annotations[v1alpha1.AnnotationHibernate] = "true"
	}
	set := statefulSet(meta, name.Nodes(c.Name), name.DataSelector(c.Name, shard))
	set.Spec.Replicas = replicas(c, c.PodsPerShard())
	set.Spec.Template = template
	set.Spec.UpdateStrategy = dataUpdate(c)
	if c.HasClaims() {
		set.Spec.VolumeClaimTemplates = append(set.Spec.VolumeClaimTemplates, claimTemplate(c))
		if c.ReclaimPolicy() == v1alpha1.ReclaimDelete {
			// Scaling never deletes: hibernation is scaling to zero.
			set.Spec.PersistentVolumeClaimRetentionPolicy = &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{
				WhenDeleted: appsv1.DeletePersistentVolumeClaimRetentionPolicyType,
				WhenScaled:  appsv1.RetainPersistentVolumeClaimRetentionPolicyType,
			}
		}
	}
	return set, nil
}

// statefulSet is what all StatefulSets have. They start and stop their pods in
// parallel: with ordered ones a pod that cannot become ready keeps the fix for it
// from ever reaching the others. The field is immutable.
func statefulSet(meta metav1.ObjectMeta, service string, selector map[string]string) *appsv1.StatefulSet {
	return &appsv1.StatefulSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "StatefulSet"},
		ObjectMeta: meta,
		Spec: appsv1.StatefulSetSpec{
			ServiceName:          service,
			Selector:             &metav1.LabelSelector{MatchLabels: selector},
			PodManagementPolicy:  appsv1.ParallelPodManagement,
			RevisionHistoryLimit: new(int32(revisionHistory)),
		},
	}
}

// replicas is the number of pods to run: none while the cluster hibernates.
func replicas(c *v1alpha1.ValkeyCluster, awake int32) *int32 {
	if c.Spec.Hibernate {
		awake = 0
	}
	return &awake
}

// dataUpdate leaves rolls to the reconciler, which hands primaries over first, or
// to the StatefulSet controller.
func dataUpdate(c *v1alpha1.ValkeyCluster) appsv1.StatefulSetUpdateStrategy {
	if c.RolloutMode() == v1alpha1.RolloutStatefulSet {
		return rollingUpdate()
	}
	return appsv1.StatefulSetUpdateStrategy{Type: appsv1.OnDeleteStatefulSetStrategyType}
}

func rollingUpdate() appsv1.StatefulSetUpdateStrategy {
	return appsv1.StatefulSetUpdateStrategy{
		Type:          appsv1.RollingUpdateStatefulSetStrategyType,
		RollingUpdate: &appsv1.RollingUpdateStatefulSetStrategy{Partition: new(int32(0))},
	}
}
