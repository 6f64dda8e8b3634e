// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package object

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/conf"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/render/script"
)

// liveConfigMap holds the directives that apply without a restart, one key for
// each version: while an upgrade rolls, every pod reads what its version knows.
func liveConfigMap(c *v1alpha1.ValkeyCluster) (*corev1.ConfigMap, error) {
	data := make(map[string]string, 5)
	for _, version := range v1alpha1.Versions() {
		text, err := conf.Live(c, version)
		if err != nil {
			return nil, err
		}
		data[script.LiveFile(version)] = text
	}
	sentinels := int32(0)
	if c.IsSentinel() {
		sentinels = c.SentinelReplicas()
	}
	data[script.MembersFile] = script.Members(c.ReplicaCount(), sentinels)
	if err := configMapFits(field.NewPath("spec", "config"), data); err != nil {
		return nil, err
	}
	return configMap(c, name.Live(c.Name), data), nil
}

// scriptsConfigMap holds what the containers run. A kubelet refreshes it in place,
// so it rolls no pod.
func scriptsConfigMap(c *v1alpha1.ValkeyCluster) *corev1.ConfigMap {
	return configMap(c, name.Scripts(c.Name), scripts)
}

// scripts is one copy of the scripts for all clusters. It is never changed.
var scripts = script.Files()

func configMap(c *v1alpha1.ValkeyCluster, called string, data map[string]string) *corev1.ConfigMap {
	meta := sharedMeta(c, called)
	meta.Annotations = verbatim()
	return &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: meta, Data: data}
}
