// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/valkey-render/valkey-render/api/crd"
	"github.com/valkey-render/valkey-render/internal/golden"
)

// verdicts is what the build and the API server say to one object.
type verdicts struct {
	build, server field.ErrorList
}

// TestBuildAndAPIServerAgree runs every case through Validate and
// ValidateUpdate, and through the CRD's schema, defaults and rules as
// kube-apiserver runs them. A case is one object, or an old and a new one. What
// the API server refuses, the build must refuse; the other way round only where
// the case says why, in a first line "# build only: …".
func TestBuildAndAPIServerAgree(t *testing.T) {
	cluster, acl := newAPIServer(t, crd.ValkeyCluster()), newAPIServer(t, crd.ValkeyACL())
	inputs, err := filepath.Glob("testdata/validate/*.yaml")
	if err != nil || len(inputs) < 100 {
		t.Fatalf("%d cases, want at least 100 (%v)", len(inputs), err)
	}
	goldens, _ := filepath.Glob("testdata/validate/*.txt")
	if len(goldens) != len(inputs) && !golden.Updating() {
		t.Errorf("%d goldens for %d cases", len(goldens), len(inputs))
	}
	for _, input := range inputs {
		name := strings.TrimSuffix(filepath.Base(input), ".yaml")
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(input)
			if err != nil {
				t.Fatal(err)
			}
			documents := bytes.Split(text, []byte("\n---\n"))
			object := documents[len(documents)-1]
			var old []byte
			if len(documents) > 1 {
				old = documents[0]
			}
			var got verdicts
			if strings.Contains(string(object), "kind: ValkeyACL") {
				got = judgeACL(t, acl, object, old)
			} else {
				got = judgeCluster(t, cluster, object, old)
			}
			buildOnly := bytes.HasPrefix(text, []byte("# build only: "))
			switch refused := len(got.build) > 0; {
			case len(got.server) > 0 && !refused:
				t.Errorf("the API server refuses what the build lets through: %v", got.server)
			case refused && len(got.server) == 0 && !buildOnly:
				t.Errorf("the API server lets through what the build refuses: %v", got.build)
			case buildOnly && (!refused || len(got.server) > 0):
				t.Errorf("not a case of the build only: build %v, API server %v", got.build, got.server)
			}
			golden.File(t, strings.TrimSuffix(input, ".yaml")+".txt", []byte(got.String()))
		})
	}
}

func (v verdicts) String() string {
	var out strings.Builder
	for _, side := range []struct {
		name string
		errs field.ErrorList
	}{{"build", v.build}, {"API server", v.server}} {
		if len(side.errs) == 0 {
			fmt.Fprintf(&out, "%s: accepted\n", side.name)
			continue
		}
		fmt.Fprintf(&out, "%s:\n", side.name)
		for _, err := range side.errs {
			fmt.Fprintf(&out, "  %s\n", err)
		}
	}
	return out.String()
}

func judgeCluster(t *testing.T, server *apiServer, text, oldText []byte) verdicts {
	t.Helper()
	object, old := decodeCase[ValkeyCluster](t, text), decodeCase[ValkeyCluster](t, oldText)
	raw := object.DeepCopy()
	object.Default()
	errs := object.Validate()
	if diff := cmp.Diff(texts(raw.Validate()), texts(errs)); diff != "" {
		t.Errorf("Validate differs before and after Default (-before +after):\n%s", diff)
	}
	if old != nil {
		update := object.ValidateUpdate(old)
		if diff := cmp.Diff(texts(raw.ValidateUpdate(old)), texts(update)); diff != "" {
			t.Errorf("ValidateUpdate differs before and after Default (-before +after):\n%s", diff)
		}
		errs = append(errs, update...)
	}
	return verdicts{build: errs, server: judgeByServer(t, server, KindCluster, text, oldText)}
}

func judgeACL(t *testing.T, server *apiServer, text, oldText []byte) verdicts {
	t.Helper()
	object, old := decodeCase[ValkeyACL](t, text), decodeCase[ValkeyACL](t, oldText)
	object.Default()
	errs := object.Validate()
	if old != nil {
		errs = append(errs, object.ValidateUpdate(old)...)
	}
	return verdicts{build: errs, server: judgeByServer(t, server, KindACL, text, oldText)}
}

func judgeByServer(t *testing.T, server *apiServer, kind string, text, oldText []byte) field.ErrorList {
	t.Helper()
	var old map[string]any
	if oldText != nil {
		old = server.read(t, complete(t, kind, oldText))
		if errs := server.admit(old, nil); len(errs) > 0 {
			t.Fatalf("the API server refuses the old object: %v", errs)
		}
	}
	errs := server.admit(server.read(t, complete(t, kind, text)), old)
	// Schemas are walked in the order of a map.
	slices.SortFunc(errs, func(a, b *field.Error) int { return strings.Compare(a.Error(), b.Error()) })
	return errs
}

// complete fills in what cases leave out: type and name.
func complete(t *testing.T, kind string, text []byte) []byte {
	t.Helper()
	object := map[string]any{}
	if err := yaml.Unmarshal(text, &object); err != nil {
		t.Fatal(err)
	}
	object["apiVersion"], object["kind"] = GroupVersion().String(), kind
	if object["metadata"] == nil {
		object["metadata"] = map[string]any{"name": "cache", "namespace": "shop"}
	}
	data, err := yaml.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func decodeCase[T any](t *testing.T, text []byte) *T {
	t.Helper()
	if text == nil {
		return nil
	}
	var object T
	if err := yaml.UnmarshalStrict(complete(t, "", text), &object); err != nil {
		t.Fatal(err)
	}
	return &object
}

func texts(errs field.ErrorList) []string {
	list := make([]string, 0, len(errs))
	for _, err := range errs {
		list = append(list, err.Error())
	}
	return list
}
