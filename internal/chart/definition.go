// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/valkey-render/valkey-render/api/crd"
)

const generated = "{{- /* Generated from %s by go test ./internal/chart -update. Do not edit. */ -}}\n"

// Definitions are templates of the CustomResourceDefinitions, by file name. Helm removes a
// definition, and with it every object of the kind, only where crd.keep says so.
func Definitions() (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, text := range crd.All() {
		var d struct {
			Spec struct{ Names struct{ Plural string } }
		}
		if err := yaml.Unmarshal([]byte(text), &d); err != nil {
			return nil, fmt.Errorf("embedded CRD: %w", err)
		}
		template, err := definition(text)
		if err != nil {
			return nil, fmt.Errorf("CRD of %s: %w", d.Spec.Names.Plural, err)
		}
		files["crd-"+d.Spec.Names.Plural+".yaml"] = template
	}
	return files, nil
}

func definition(text string) ([]byte, error) {
	const (
		begin  = "apiVersion: apiextensions.k8s.io/v1\n"
		places = "  annotations:\n"
		keep   = "    {{- if .Values.crd.keep }}\n    helm.sh/resource-policy: keep\n    {{- end }}\n"
		labels = "  labels:\n    {{- include \"valkey-reconciler.labels\" . | nindent 4 }}\n"
	)
	at := strings.Index(text, begin)
	if at < 0 || strings.Count(text, "\n"+places) != 1 {
		return nil, fmt.Errorf("not in the form that controller-gen writes")
	}
	// The header with the licence is a comment that no API server needs.
	body := escape(text[at:])
	body = strings.Replace(body, "\n"+places, "\n"+places+keep, 1)
	body = strings.Replace(body, "\n  name: ", "\n"+labels+"  name: ", 1)
	return fmt.Appendf(nil, generated+"{{- if .Values.crd.enabled }}\n%s{{- end }}\n", "api/crd", body), nil
}

// escape makes a template of a text that gives that text.
func escape(text string) string {
	return strings.ReplaceAll(text, "{{", `{{ "{{" }}`)
}
