// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package guard_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"text/template"

	"github.com/google/go-cmp/cmp"
	admission "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"

	"github.com/valkey-render/valkey-render/internal/golden"
	"github.com/valkey-render/valkey-render/topologyjob/guard"
)

const (
	plainFile = "../../charts/valkey-reconciler/guard.yaml"
	chartFile = "../../charts/valkey-reconciler/templates/guard.yaml"
)

func manifest(t testing.TB, o guard.Options) string {
	t.Helper()
	text, err := guard.Manifest(o)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// release renders the template as Helm would.
func release(t testing.TB, namespace, name string, values map[string]any) string {
	t.Helper()
	text, err := guard.Chart()
	if err != nil {
		t.Fatal(err)
	}
	const account = "{{define `valkey-reconciler.serviceAccountName`}}{{ .Values.serviceAccount.name }}{{end}}"
	parsed, err := template.New("guard.yaml").Option("missingkey=zero").Parse(account + string(text))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	err = parsed.Execute(&out, map[string]any{"Values": values, "Release": map[string]any{"Namespace": namespace, "Name": name}})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// documents are the objects of a file.
func documents(t testing.TB, text string) []*unstructured.Unstructured {
	t.Helper()
	var out []*unstructured.Unstructured
	for part := range strings.SplitSeq("\n"+text, "\n---\n") {
		o := &unstructured.Unstructured{}
		if err := yaml.UnmarshalStrict([]byte(part), &o.Object); err != nil {
			t.Fatalf("%v in\n%s", err, part)
		}
		if o.Object != nil {
			out = append(out, o)
		}
	}
	if want := 2 * len(guard.Policies(guard.Options{})); len(out) != want {
		t.Fatalf("%d objects, want %d", len(out), want)
	}
	return out
}

func TestFilesAreWhatTheSourceGives(t *testing.T) {
	golden.File(t, plainFile, []byte(manifest(t, guard.Options{})))
	text, err := guard.Chart()
	if err != nil {
		t.Fatal(err)
	}
	golden.File(t, chartFile, text)
}

// TestTheTemplateIsTheSameObjects: what a release gets is what the source gives for
// its name, its service account and its failurePolicy.
func TestTheTemplateIsTheSameObjects(t *testing.T) {
	enabled := func(more map[string]any) map[string]any {
		g := map[string]any{"enabled": true}
		for k, v := range more {
			g[k] = v
		}
		return g
	}
	for name, c := range map[string]struct {
		values map[string]any
		want   guard.Options
	}{
		"by default": {
			map[string]any{"guard": enabled(nil), "serviceAccount": map[string]any{"name": "valkey-reconciler"}},
			guard.Options{Suffix: ".ops.valkey", Reconciler: "system:serviceaccount:ops:valkey-reconciler"},
		},
		"with all values": {
			map[string]any{"guard": enabled(map[string]any{"failurePolicy": "Ignore"}), "serviceAccount": map[string]any{"name": "robot"}},
			guard.Options{Suffix: ".ops.valkey", Reconciler: "system:serviceaccount:ops:robot", FailurePolicy: admission.Ignore},
		},
	} {
		t.Run(name, func(t *testing.T) {
			want := documents(t, manifest(t, c.want))
			if diff := cmp.Diff(want, documents(t, release(t, "ops", "valkey", c.values))); diff != "" {
				t.Errorf("(-source +template)\n%s", diff)
			}
		})
	}
	if got := release(t, "ops", "valkey", map[string]any{"guard": map[string]any{"enabled": false}}); strings.TrimSpace(got) != "" {
		t.Errorf("disabled, it still gives %s", got)
	}
	if text := manifest(t, guard.Options{}); strings.Contains(text, "{{") {
		t.Error("an expression looks like a template")
	}
}

func TestTwoReleasesShareNoObject(t *testing.T) {
	names := func(o guard.Options) []string {
		var out []string
		for _, p := range guard.Policies(o) {
			out = append(out, p.Policy.Name, "binding "+p.Binding.Name)
		}
		return out
	}
	long := strings.Repeat("n", 63)
	var all []string
	for _, suffix := range []string{"", ".ops.valkey", ".ops-valkey.valkey", ".ops.valkey-valkey", "." + long + "." + strings.Repeat("r", 53)} {
		all = append(all, names(guard.Options{Suffix: suffix})...)
	}
	slices.Sort(all)
	if unique := slices.Compact(slices.Clone(all)); len(unique) != len(all) {
		t.Errorf("names are taken twice: %v", all)
	}
	for _, n := range all {
		n = strings.TrimPrefix(n, "binding ")
		if why := validation.IsDNS1123Subdomain(n); why != nil || !strings.HasPrefix(n, guard.Prefix) {
			t.Errorf("%s: %v", n, why)
		}
	}
}

func TestEveryDenialIsForbiddenWithAMessageAndDenies(t *testing.T) {
	for _, p := range guard.Policies(guard.Options{}) {
		if p.Binding.Spec.PolicyName != p.Policy.Name || !slices.Equal(p.Binding.Spec.ValidationActions, []admission.ValidationAction{admission.Deny}) {
			t.Errorf("%s: the binding is %+v", p.Policy.Name, p.Binding.Spec)
		}
		if len(p.Policy.Spec.Validations) == 0 {
			t.Errorf("%s denies nothing", p.Policy.Name)
		}
		for _, v := range p.Policy.Spec.Validations {
			if v.Reason == nil || *v.Reason != metav1.StatusReasonForbidden || v.Message == "" || v.MessageExpression == "" {
				t.Errorf("%s: %+v", p.Policy.Name, v)
			}
		}
	}
}

// TestWhatTheServerCannotEvaluateFailsOnlyOurOwn: a policy with parameters cannot be
// evaluated while the definition is missing or not yet known. It must then not fail
// requests for objects of others, so it is narrowed by our label, or fails nobody.
func TestWhatTheServerCannotEvaluateFailsOnlyOurOwn(t *testing.T) {
	for _, p := range guard.Policies(guard.Options{}) {
		narrowed := p.Policy.Spec.MatchConstraints.ObjectSelector != nil
		if p.Policy.Spec.ParamKind != nil && !narrowed && *p.Policy.Spec.FailurePolicy != admission.Ignore {
			t.Errorf("%s would fail everybody's", p.Policy.Name)
		}
		if p.Policy.Spec.ParamKind == nil && *p.Policy.Spec.FailurePolicy != admission.Fail {
			t.Errorf("%s needs nothing, and fails open", p.Policy.Name)
		}
	}
}

func TestOptionsReachThePolicies(t *testing.T) {
	text := manifest(t, guard.Options{Reconciler: "system:serviceaccount:ops:robot", FailurePolicy: admission.Ignore, Suffix: ".x.y"})
	for _, want := range []string{`"system:serviceaccount:ops:robot"`, "name: valkey-render-guard-pod.x.y", "policyName: valkey-render-guard-pod.x.y"} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is not there", want)
		}
	}
	if strings.Contains(text, "failurePolicy: Fail") {
		t.Error("a policy still fails")
	}
	if diff := cmp.Diff(text, manifest(t, guard.Options{Reconciler: "system:serviceaccount:ops:robot", FailurePolicy: admission.Ignore, Suffix: ".x.y"})); diff != "" {
		t.Error(diff)
	}
}
