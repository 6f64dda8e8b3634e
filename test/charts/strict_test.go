// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package charts

import (
	"testing"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
)

// strict decodes objects as their types, and fails the test for fields that a type does not
// have, and for kinds that nobody knows.
func strict(t testing.TB, objects []*unstructured.Unstructured) {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, v1alpha1.AddToScheme, apiextensionsv1.AddToScheme, monitoringv1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	if len(objects) == 0 {
		t.Error("nothing rendered")
	}
	for _, o := range objects {
		text, err := o.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := decoder.Decode(text, nil, nil); err != nil {
			t.Errorf("%s/%s: %v", o.GetKind(), o.GetName(), err)
		}
	}
}

func TestUnknownFieldsAreSeen(t *testing.T) {
	recorder := &recording{TB: t}
	strict(recorder, documents(t, "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {prots: []}\n"))
	strict(recorder, documents(t, "apiVersion: v1\nkind: Serivce\nmetadata: {name: a}\n"))
	if recorder.errors != 2 {
		t.Errorf("%d errors", recorder.errors)
	}
}

// recording counts errors instead of failing.
type recording struct {
	testing.TB
	errors int
}

func (r *recording) Errorf(string, ...any) { r.errors++ }
