// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// TestACertificateThatCannotBeReadIsNamed in what is said of every pod, and not shown.
func TestACertificateThatCannotBeReadIsNamed(t *testing.T) {
	login := Login{Passwords: []string{"p"}, TLS: &Certificates{Secret: "cache-tls", CA: []byte("private")}}
	v := NewServers().Survey(t.Context(), types.NamespacedName{Namespace: "shop", Name: "cache"}, login, Asked{Pods: []survey.Pod{{Name: "cache-0-0"}}})
	problem := v.Answers[0].Problem
	if problem == nil || !strings.Contains(problem.Message, "Secret cache-tls: ca.crt") || strings.Contains(problem.Message, "private") {
		t.Errorf("%+v", problem)
	}
}
