// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"bytes"
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"github.com/valkey-render/valkey-render/topologyjob/reconciler"
)

// lease is the template's name of the Lease, which depends on a value.
const lease = `{{ include "valkey-reconciler.lease" . }}`

// Rules are named templates with the rules of the reconciler's roles.
func Rules() ([]byte, error) {
	var out bytes.Buffer
	fmt.Fprintf(&out, generated, "topologyjob/reconciler")
	for _, r := range []struct {
		name  string
		rules []rbacv1.PolicyRule
	}{
		{"rules", reconciler.Rights()},
		{"ownRules", reconciler.OwnRights(lease)},
		{"ownJobRules", reconciler.OwnJobRights()},
		{"applyRules", reconciler.ApplyRights()},
		{"metricsRules", reconciler.MetricsRights()},
		{"guardRules", reconciler.GuardRights()},
	} {
		text, err := yaml.Marshal(r.rules)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.name, err)
		}
		fmt.Fprintf(&out, "\n{{- define \"valkey-reconciler.%s\" -}}\n%s{{- end }}\n", r.name, text)
	}
	return out.Bytes(), nil
}
