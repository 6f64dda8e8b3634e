// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"bytes"
	"fmt"

	admission "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

const generated = "# Generated from topologyjob/guard by go test ./topologyjob/guard -update. Do not edit.\n"

// Manifest is all policies as one file of YAML documents, for kubectl.
func Manifest(o Options) ([]byte, error) {
	var out bytes.Buffer
	out.WriteString(generated)
	for _, p := range Policies(o) {
		for _, object := range []any{p.Policy, p.Binding} {
			if err := document(&out, object); err != nil {
				return nil, fmt.Errorf("%s: %w", p.Policy.Name, err)
			}
		}
	}
	return out.Bytes(), nil
}

// Chart is the same file as a template of the chart, which defines the name of the service
// account. It asks for no function that text/template does not have. Objects are named for the release: two releases in one
// cluster each bring a guard, and either holds without the other.
func Chart() ([]byte, error) {
	manifest, err := Manifest(Options{
		Suffix:        ".{{.Release.Namespace}}.{{.Release.Name}}",
		FailurePolicy: admission.FailurePolicyType(`{{ or .Values.guard.failurePolicy "Fail" }}`),
		Reconciler:    "system:serviceaccount:{{.Release.Namespace}}:{{ template `valkey-reconciler.serviceAccountName` . }}",
	})
	if err != nil {
		return nil, err
	}
	body := bytes.TrimPrefix(manifest, []byte(generated))
	return fmt.Appendf(nil, "{{- /* Generated from topologyjob/guard by go test ./topologyjob/guard -update. Do not edit. */ -}}\n{{- if .Values.guard.enabled }}\n%s{{- end }}\n", body), nil
}

// document writes an object without the status that its type always has.
func document(out *bytes.Buffer, object any) error {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return err
	}
	delete(content, "status")
	text, err := yaml.Marshal(content)
	if err != nil {
		return err
	}
	out.WriteString("---\n")
	out.Write(text)
	return nil
}
