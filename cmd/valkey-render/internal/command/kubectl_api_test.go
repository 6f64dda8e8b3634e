// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/valkey-render/valkey-render/internal/apitest"
)

// What the guide tells to run, over every example at once.
var (
	kubectlApply = []string{"apply", "--server-side", "--warnings-as-errors", "--recursive", "-f", "rendered"}
	kubectlDiff  = []string{"diff", "--server-side", "--recursive", "-f", "rendered"}
	// As who applied it, and without --server-side.
	kubectlDiffAsOurs = []string{"diff", "--server-side", "--field-manager", "valkey-render", "--recursive", "-f", "rendered"}
	kubectlDiffPlain  = []string{"diff", "--recursive", "-f", "rendered"}
)

// renderedExamples is every example, each in a namespace of its own: as arguments that name
// its input, and as the directory rendered/NAME that `build` wrote.
type renderedExamples struct {
	*session
	inputs     map[string][]string
	namespaces map[string]string
}

// renderExamples copies all examples to where the session runs, and renders them.
func renderExamples(t *testing.T) renderedExamples {
	t.Helper()
	apitest.Install(t)
	root, err := filepath.Abs("../../../../examples")
	if err != nil {
		t.Fatal(err)
	}
	r := renderedExamples{newSession(t, nil), map[string][]string{}, map[string]string{}}
	r.env["KUBECONFIG"] = apitest.Kubeconfig(t)
	if err := os.CopyFS("examples", os.DirFS(root)); err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{"*/cluster.yaml", "*/*/rendered"} {
		found, err := filepath.Glob("examples/" + pattern)
		if err != nil || len(found) < 2 {
			t.Fatal(found, err)
		}
		for _, path := range found {
			directory := filepath.Dir(path)
			called, err := filepath.Rel("examples", directory)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(filepath.Join(directory, "rendered")); err != nil {
				continue // a base that others build on
			}
			if called == "ipv6" && !apitest.ServesIPv6(t) {
				t.Log("the server has one IP family: without the example ipv6")
				continue
			}
			r.namespaces[called] = apitest.Namespace(t)
			r.inputs[called] = []string{"-f", path}
			if filepath.Base(path) == "rendered" {
				r.inputs[called] = []string{"-k", directory}
			}
			r.into(directory, r.namespaces[called])
			r.must(exitOK, append([]string{"build", "-d", filepath.Join("rendered", called)}, r.inputs[called]...)...)
		}
	}
	if len(r.inputs) < 15 {
		t.Fatalf("only %d examples", len(r.inputs))
	}
	return r
}

// into moves the specs of an example to a namespace.
func (r renderedExamples) into(directory, namespace string) {
	r.t.Helper()
	names := regexp.MustCompile(`(?m)^((  )?namespace:) .*$`)
	files, err := filepath.Glob(directory + "/*.yaml")
	if err != nil {
		r.t.Fatal(err)
	}
	for _, file := range files {
		r.write(file, names.ReplaceAllString(r.read(file), "$1 "+namespace))
	}
}

// kubectl runs it, and it must succeed: for `diff` that is to find no difference.
func (r renderedExamples) kubectl(args ...string) string {
	r.t.Helper()
	code, out, narration := apitest.Kubectl(r.t, args...)
	if code != 0 {
		r.t.Errorf("kubectl %s: exit %d\n%s%s", strings.Join(args, " "), code, out, narration)
	}
	return out
}

func (r renderedExamples) applyAll() {
	r.t.Helper()
	for _, called := range r.names() {
		r.must(exitOK, append([]string{"apply"}, r.inputs[called]...)...)
	}
}

func (r renderedExamples) names() []string {
	var out []string
	for called := range r.inputs {
		out = append(out, called)
	}
	slices.Sort(out)
	return out
}

// applies runs kubectl apply.
func (r renderedExamples) applies() {
	r.t.Helper()
	if out := r.kubectl(kubectlApply...); strings.Count(out, " serverside-applied\n") != strings.Count(out, "\n") {
		r.t.Errorf("kubectl apply:\n%s", out)
	}
}

// noDifference runs kubectl diff.
func (r renderedExamples) noDifference(diff []string) {
	r.t.Helper()
	if out := r.kubectl(diff...); out != "" {
		r.t.Errorf("kubectl %s:\n%s", strings.Join(diff, " "), out)
	}
}

// TestAPIServerKubectlFirst: kubectl applies what was rendered, and `valkey-render
// apply` takes over.
func TestAPIServerKubectlFirst(t *testing.T) {
	r := renderExamples(t)
	r.applies()
	r.applyAll()
	r.noDifference(kubectlDiffAsOurs)
	r.noDifference(kubectlDiffPlain)
}

// TestAPIServerKubectlAfterwards: objects of `valkey-render apply` pass kubectl, which
// also notices what somebody else has changed in them.
func TestAPIServerKubectlAfterwards(t *testing.T) {
	r := renderExamples(t)
	r.applyAll()
	r.applies()
	r.noDifference(kubectlDiff)

	service := &unstructured.Unstructured{}
	service.SetAPIVersion("v1")
	service.SetKind("Service")
	service.SetNamespace(r.namespaces["smallest-cache"])
	service.SetName("cache")
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"type":"NodePort"}}`))
	if err := apitest.Client(t).Patch(t.Context(), service, patch, client.FieldOwner("somebody")); err != nil {
		t.Fatal(err)
	}
	if code, _, narration := apitest.Kubectl(t, "apply", "--server-side", "-f", "rendered/smallest-cache"); code == 0 || !strings.Contains(narration, `conflict with "somebody"`) {
		t.Errorf("kubectl apply over a change: exit %d\n%s", code, narration)
	}
	if code, out, _ := apitest.Kubectl(t, "diff", "-f", "rendered/smallest-cache"); code != 1 || !strings.Contains(out, "-  type: NodePort\n+  type: ClusterIP\n") {
		t.Errorf("kubectl diff over a change: exit %d\n%s", code, out)
	}
}
