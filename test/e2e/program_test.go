// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

//go:build cluster

package e2e

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/valkey-render/valkey-render/internal/apitest"
)

// outcome is how a run of the program ended.
type outcome struct {
	code        int
	out, errOut string
}

// program runs valkey-render as a user does.
func (p *place) program(args ...string) outcome {
	p.Helper()
	return p.called("VALKEY_RENDER", args...)
}

// called runs the program that a variable names.
func (p *place) called(variable string, args ...string) outcome {
	p.Helper()
	name := os.Getenv(variable)
	if name == "" {
		p.Fatalf("%s names no program: run make test-e2e, which builds it", variable)
	}
	var out, errOut bytes.Buffer
	command := exec.CommandContext(p.Context(), name, args...)
	command.Stdout, command.Stderr = &out, &errOut
	command.Env = append(os.Environ(), "KUBECONFIG="+apitest.Kubeconfig(p))
	err := command.Run()
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
		p.Fatal(err)
	}
	return outcome{command.ProcessState.ExitCode(), out.String(), errOut.String()}
}

// spec writes a ValkeyCluster named cache, in this namespace, and returns the arguments
// that name it.
func (p *place) spec(text string) []string {
	p.Helper()
	file := filepath.Join(p.TempDir(), "cluster.yaml")
	text = "apiVersion: valkey-render.dev/v1alpha1\nkind: ValkeyCluster\nmetadata: {name: cache}\nspec: " + text + "\n"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		p.Fatal(err)
	}
	return []string{"-f", file, "-n", p.namespace}
}

// moved is a directory with a kustomization that puts what another one, or a file, has
// into this namespace.
func (p *place) moved(from string) []string {
	p.Helper()
	dir := p.TempDir()
	data, err := os.ReadFile(from)
	resource := "cluster.yaml"
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, resource), data, 0o644)
	} else {
		if from, err = filepath.Abs(from); err == nil {
			resource, err = filepath.Rel(dir, from)
		}
	}
	if err != nil {
		p.Fatal(err)
	}
	text := "namespace: " + p.namespace + "\nresources: [" + resource + "]\n"
	if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(text), 0o644); err != nil {
		p.Fatal(err)
	}
	return []string{"-k", dir}
}

// rendered are the objects of a spec.
func (p *place) rendered(spec []string) []*unstructured.Unstructured {
	p.Helper()
	built := p.program(append([]string{"build"}, spec...)...)
	if built.code != 0 {
		p.Fatalf("build: %s", built.errOut)
	}
	var all []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(built.out), 4096)
	for {
		o := &unstructured.Unstructured{}
		if err := decoder.Decode(o); err != nil {
			break
		}
		all = append(all, o)
	}
	if len(all) == 0 {
		p.Fatal("build: nothing is rendered")
	}
	return all
}

// apply applies a spec, with the Secrets that its pods wait for, and expects success.
func (p *place) apply(spec []string, flags ...string) outcome {
	p.Helper()
	p.secrets(spec)
	o := p.program(append(append([]string{"apply"}, spec...), flags...)...)
	if o.code != 0 {
		p.Fatalf("apply: exit status %d\n%s%s", o.code, o.out, o.errOut)
	}
	return o
}

// waited are the flags of an apply that waits.
func waited() []string { return []string{"--wait", "--timeout", patience.String()} }
