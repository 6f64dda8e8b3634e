// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package charts

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart/common"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/kube"
	release "helm.sh/helm/v4/pkg/release/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

const (
	root       = "../.."
	reconciler = "valkey-reconciler"
	cluster    = "valkey-cluster"
)

func TestMain(m *testing.M) {
	// Helm's client tells klog every step.
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	log.SetLogger(logr.Discard())
	// As the program helm sets it.
	kube.ManagedFieldsManager = "helm"
	os.Exit(m.Run())
}

func directory(name string) string { return filepath.Join(root, "charts", name) }

func load(t testing.TB, name string) *chart.Chart {
	t.Helper()
	c, err := loader.Load(directory(name))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// values are those of a text, as a file given with -f.
func values(t testing.TB, text string) map[string]any {
	t.Helper()
	out, err := loader.LoadValues(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// rendering is what `helm template` makes of a chart.
type rendering struct {
	objects []*unstructured.Unstructured
	// hooks are the objects with a hook.
	hooks []*unstructured.Unstructured
	notes string
}

// named is the release that a chart is rendered for.
type named struct {
	name, namespace string
	// unchecked leaves the values unchecked.
	unchecked bool
}

func (n named) template(t testing.TB, c *chart.Chart, values map[string]any) (rendering, error) {
	t.Helper()
	install := action.NewInstall(action.NewConfiguration(action.ConfigurationSetLogger(slog.DiscardHandler)))
	install.DryRunStrategy, install.ReleaseName, install.Namespace = action.DryRunClient, n.name, n.namespace
	install.SkipSchemaValidation = n.unchecked
	install.KubeVersion = &common.KubeVersion{Version: "v1.30.0", Major: "1", Minor: "30"}
	made, err := install.Run(c, values)
	if err != nil {
		return rendering{}, err
	}
	r, ok := made.(*release.Release)
	if !ok {
		return rendering{}, fmt.Errorf("release of type %T", made)
	}
	out := rendering{objects: documents(t, r.Manifest), notes: r.Info.Notes}
	for _, h := range r.Hooks {
		out.hooks = append(out.hooks, documents(t, h.Manifest)...)
	}
	return out, nil
}

func documents(t testing.TB, text string) []*unstructured.Unstructured {
	t.Helper()
	var out []*unstructured.Unstructured
	for decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader([]byte(text)), 4096); ; {
		// As clients do it: an integer stays one.
		var raw runtime.RawExtension
		err := decoder.Decode(&raw)
		if errors.Is(err, io.EOF) {
			return out
		}
		o := &unstructured.Unstructured{}
		if err == nil && len(raw.Raw) > 0 && string(raw.Raw) != "null" {
			err = o.UnmarshalJSON(raw.Raw)
			out = append(out, o)
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
	}
}

// find is the object of a kind and a name.
func find(t testing.TB, objects []*unstructured.Unstructured, kind, name string) *unstructured.Unstructured {
	t.Helper()
	for _, o := range objects {
		if o.GetKind() == kind && o.GetName() == name {
			return o
		}
	}
	t.Fatalf("no %s/%s", kind, name)
	return nil
}
