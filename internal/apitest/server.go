// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package apitest

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/valkey-render/valkey-render/api/crd"
)

// Variable names the kubeconfig of the server to test against.
const Variable = "APISERVER_KUBECONFIG"

// Kubeconfig is the file that names the server.
func Kubeconfig(t testing.TB) string {
	t.Helper()
	file := os.Getenv(Variable)
	if file == "" {
		t.Fatalf("%s names no kubeconfig: run make test-api, which starts a server", Variable)
	}
	return file
}

// Config connects to the server as its administrator.
func Config(t testing.TB) *rest.Config {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", Kubeconfig(t))
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	config.WarningHandler = rest.NoWarnings{}
	return config
}

// Client is a client of the administrator, for tests to look with.
func Client(t testing.TB) client.Client {
	t.Helper()
	c, err := client.New(Config(t), client.Options{Log: funcr.New(func(string, string) {}, funcr.Options{})})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Namespace makes a namespace that enforces Pod Security "restricted", and deletes
// it after the test.
func Namespace(t testing.TB) string {
	t.Helper()
	c := Client(t)
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-", Labels: map[string]string{
		"pod-security.kubernetes.io/enforce": "restricted",
	}}}
	if err := c.Create(t.Context(), ns); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Delete(context.Background(), ns); err != nil && !apierrors.IsNotFound(err) {
			t.Error(err)
		}
	})
	return ns.Name
}

// ServesIPv6 reports whether Services of the server can have IPv6 addresses.
func ServesIPv6(t testing.TB) bool {
	t.Helper()
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "six"},
		Spec:       corev1.ServiceSpec{IPFamilies: []corev1.IPFamily{corev1.IPv6Protocol}, Ports: []corev1.ServicePort{{Port: 6379}}},
	}
	return Client(t).Create(t.Context(), service, client.DryRunAll) == nil
}

// Install installs our definitions, and stand-ins for those of cert-manager and
// the Prometheus operator, and waits until they are served.
func Install(t testing.TB) {
	t.Helper()
	c := Client(t)
	definitions := crd.All()
	for _, k := range []struct{ group, kind, plural string }{
		{"cert-manager.io", "Certificate", "certificates"},
		{"monitoring.coreos.com", "PodMonitor", "podmonitors"},
		{"monitoring.coreos.com", "PrometheusRule", "prometheusrules"},
	} {
		definitions = append(definitions, standIn(k.group, k.kind, k.plural))
	}
	for _, text := range definitions {
		definition := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(text), &definition.Object); err != nil {
			t.Fatal(err)
		}
		err := c.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(definition), client.ForceOwnership, client.FieldOwner("apitest"))
		if err != nil {
			t.Fatal(err)
		}
		served(t, c, definition)
	}
}

// served waits until objects of a definition can be listed.
func served(t testing.TB, c client.Client, definition *unstructured.Unstructured) {
	t.Helper()
	group, _, _ := unstructured.NestedString(definition.Object, "spec", "group")
	kind, _, _ := unstructured.NestedString(definition.Object, "spec", "names", "kind")
	versions, _, _ := unstructured.NestedSlice(definition.Object, "spec", "versions")
	version, _ := versions[0].(map[string]any)["name"].(string)
	for range 100 {
		list := &unstructured.UnstructuredList{}
		list.SetAPIVersion(group + "/" + version)
		list.SetKind(kind + "List")
		err := c.List(t.Context(), list)
		if err == nil {
			return
		}
		if !meta.IsNoMatchError(err) && !apierrors.IsNotFound(err) {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("%s is not served", definition.GetName())
}

// standIn is a definition that takes anything.
func standIn(group, kind, plural string) string {
	return fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[1]s.%[2]s}
spec:
  group: %[2]s
  scope: Namespaced
  names: {kind: %[3]s, listKind: %[3]sList, plural: %[1]s, singular: %[4]s}
  versions:
  - {name: v1, served: true, storage: true, subresources: {status: {}}, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
`, plural, group, kind, plural[:len(plural)-1])
}
