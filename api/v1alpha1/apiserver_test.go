// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"context"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	crdvalidation "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"

	"github.com/valkey-render/valkey-render/api/crd"
)

// apiServer does with an object of one kind what kube-apiserver does between
// decoding and storing it.
type apiServer struct {
	structural *schema.Structural
	schema     validation.SchemaValidator
	rules      *cel.Validator
}

// internalCRD decodes a definition as kube-apiserver does.
func internalCRD(t *testing.T, text string) *apiextensions.CustomResourceDefinition {
	t.Helper()
	external := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict([]byte(text), external); err != nil {
		t.Fatal(err)
	}
	apiextensionsv1.SetDefaults_CustomResourceDefinition(external)
	apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&external.Spec)
	internal := &apiextensions.CustomResourceDefinition{}
	scheme := runtime.NewScheme()
	if err := apiextensionsv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	if err := apiextensions.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	if err := scheme.Convert(external, internal, nil); err != nil {
		t.Fatal(err)
	}
	internal.Status.StoredVersions = []string{internal.Spec.Versions[0].Name}
	return internal
}

func newAPIServer(t *testing.T, text string) *apiServer {
	t.Helper()
	definition := internalCRD(t, text)
	v := definition.Spec.Validation
	if v == nil {
		v = definition.Spec.Versions[0].Schema
	}
	structural, err := schema.NewStructural(v.OpenAPIV3Schema)
	if err != nil {
		t.Fatal(err)
	}
	schemaValidator, _, err := validation.NewSchemaValidator(v.OpenAPIV3Schema)
	if err != nil {
		t.Fatal(err)
	}
	return &apiServer{
		structural: structural,
		schema:     schemaValidator,
		rules:      cel.NewValidator(structural, true, celconfig.PerCallLimit),
	}
}

// read decodes and defaults an object; what the schema does not know is an
// error.
func (a *apiServer) read(t *testing.T, text []byte) map[string]any {
	t.Helper()
	asJSON, err := yaml.YAMLToJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	// Of numbers, rules see integers only as integers.
	var object map[string]any
	if err := json.Unmarshal(asJSON, &object); err != nil {
		t.Fatal(err)
	}
	defaulting.PruneNonNullableNullsWithoutDefaults(object, a.structural)
	defaulting.Default(object, a.structural)
	unknown := pruning.PruneWithOptions(object, a.structural, true, schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	if len(unknown) > 0 {
		t.Fatalf("fields that the schema does not know: %v", unknown)
	}
	return object
}

// admit returns why the object is refused; old is nil for a new one.
func (a *apiServer) admit(object, old map[string]any) field.ErrorList {
	var errs field.ErrorList
	var before any
	if old == nil {
		errs = validation.ValidateCustomResource(nil, object, a.schema)
	} else {
		before = old
		errs = validation.ValidateCustomResourceUpdate(nil, object, old, a.schema)
	}
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, a.structural, object)...)
	if len(errs) > 0 {
		// kube-apiserver runs the rules only over what the schema admits.
		return errs
	}
	broken, _ := a.rules.Validate(context.Background(), nil, a.structural, object, before, celconfig.RuntimeCELCostBudget)
	return append(errs, broken...)
}

// TestDefinitionsAreAccepted runs what kube-apiserver runs over a
// CustomResourceDefinition: structural schema, defaults, and that every rule
// compiles and its estimated cost is within the limits.
func TestDefinitionsAreAccepted(t *testing.T) {
	for _, text := range crd.All() {
		definition := internalCRD(t, text)
		for _, err := range crdvalidation.ValidateCustomResourceDefinition(context.Background(), definition) {
			t.Errorf("%s: %v", definition.Name, err)
		}
	}
}
