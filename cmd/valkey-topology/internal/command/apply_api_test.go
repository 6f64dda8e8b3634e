// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"os"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/valkey-render/valkey-render/internal/apitest"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/reconciler"
)

// TestAPIServerAnApplyJobAppliesWhatIsRendered: with the rights of the chart and no others
// it makes everything but the ValkeyCluster, owned by it but for the claims, and a second
// run has nothing to do.
func TestAPIServerAnApplyJobAppliesWhatIsRendered(t *testing.T) {
	apitest.Install(t)
	admin, namespace := apitest.Client(t), apitest.Namespace(t)
	text := `apiVersion: valkey-render.dev/v1alpha1
kind: ValkeyCluster
metadata: {name: cache, namespace: ` + namespace + `}
spec: {shards: 1, profile: Durable, storage: {size: 1Gi}, resources: {limits: {memory: 64Mi}}}
`
	c := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &c.Object); err != nil {
		t.Fatal(err)
	}
	if err := admin.Create(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	for _, o := range []client.Object{
		&rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "apply"}, Rules: reconciler.ApplyRights()},
		&rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "apply"},
			Subjects:   []rbacv1.Subject{{Kind: "User", APIGroup: "rbac.authorization.k8s.io", Name: namespace + "-apply"}},
			RoleRef:    rbacv1.RoleRef{Kind: "Role", APIGroup: "rbac.authorization.k8s.io", Name: "apply"},
		},
	} {
		if err := admin.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	raw, err := clientcmd.LoadFromFile(apitest.Kubeconfig(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, user := range raw.AuthInfos {
		*user = clientcmdapi.AuthInfo{
			ClientCertificateData: user.ClientCertificateData, ClientKeyData: user.ClientKeyData,
			ClientCertificate: user.ClientCertificate, ClientKey: user.ClientKey, Token: user.Token, Impersonate: namespace + "-apply",
		}
	}
	kubeconfig := t.TempDir() + "/kubeconfig"
	if err := clientcmd.WriteToFile(*raw, kubeconfig); err != nil {
		t.Fatal(err)
	}
	login, err := os.ReadFile(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	apply := func(owner, want string, code int) {
		t.Helper()
		s := run(t, memory{"cluster.yaml": text, kubeconfig: string(login)}, map[string]string{}, "run", "--kind", "apply", "-f", "cluster.yaml", "--owner", owner, "--kubeconfig", kubeconfig)
		if said := s.out.String() + s.err.String(); s.code != code || !strings.Contains(said, want) {
			t.Errorf("exit code %d, want %d: %s, want %s", s.code, code, said, want)
		}
	}
	apply("another", "is there no more", 1)
	apply(string(c.GetUID()), "apply: Converged: ", 0)
	apply(string(c.GetUID()), "unchanged", 0)
	set := &appsv1.StatefulSet{}
	if err := admin.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "cache-0"}, set); err != nil {
		t.Fatal(err)
	}
	if len(set.OwnerReferences) != 1 || set.OwnerReferences[0].UID != c.GetUID() {
		t.Errorf("StatefulSet: owners %v", set.OwnerReferences)
	}
	inventory := &corev1.ConfigMap{}
	if err := admin.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name.Inventory("cache")}, inventory); err != nil {
		t.Fatal(err)
	}
	if len(inventory.OwnerReferences) != 1 || inventory.OwnerReferences[0].UID != c.GetUID() {
		t.Errorf("inventory: owners %v", inventory.OwnerReferences)
	}
	claim := &corev1.PersistentVolumeClaim{}
	if err := admin.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "data-cache-0-0"}, claim); err != nil {
		t.Fatal(err)
	}
	if len(claim.OwnerReferences) > 0 {
		t.Errorf("claim: owners %v", claim.OwnerReferences)
	}
}
