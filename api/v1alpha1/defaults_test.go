// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/valkey-render/valkey-render/internal/golden"
)

// TestDefaultsMatchGolden pins, for one spec a directory, what Default fills in
// and what every getter returns, so that a changed default shows in review.
func TestDefaultsMatchGolden(t *testing.T) {
	inputs, err := filepath.Glob("testdata/defaults/*/*")
	if err != nil {
		t.Fatal(err)
	}
	cases := 0
	for _, input := range inputs {
		if filepath.Base(input) == "expected.json" {
			continue
		}
		cases++
		t.Run(filepath.Base(filepath.Dir(input)), func(t *testing.T) {
			c := readCluster(t, input)
			before := getters(c)
			c.Default()
			after := getters(c)
			if filepath.Base(filepath.Dir(input)) != "digest-without-version" && c.Spec.Version == "" {
				t.Error("Default left version empty")
			}
			if diff := cmp.Diff(before, after); diff != "" {
				t.Errorf("getters differ before and after Default (-before +after):\n%s", diff)
			}
			again := c.DeepCopy()
			again.Default()
			if diff := cmp.Diff(c, again); diff != "" {
				t.Errorf("Default is not idempotent (-once +twice):\n%s", diff)
			}
			got, err := json.MarshalIndent(map[string]any{"spec": c.Spec, "effective": after}, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			golden.File(t, filepath.Join(filepath.Dir(input), "expected.json"), append(got, '\n'))
		})
	}
	if cases < 10 || len(inputs) != 2*cases && !golden.Updating() {
		t.Errorf("%d cases and %d files; want at least 10 cases with one golden each", cases, len(inputs))
	}
}

func TestDefaultSurvivesJSON(t *testing.T) {
	inputs, _ := filepath.Glob("testdata/defaults/*/cluster.yaml")
	for _, input := range inputs {
		c := readCluster(t, input)
		c.Default()
		data, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		var back ValkeyCluster
		if err := json.Unmarshal(data, &back); err != nil {
			t.Fatal(err)
		}
		back.Default()
		if diff := cmp.Diff(c.Spec, back.Spec); diff != "" {
			t.Errorf("%s: the defaulted spec changes on a round trip:\n%s", input, diff)
		}
	}
}

func TestACLDefaults(t *testing.T) {
	acl := ValkeyACL{Spec: ValkeyACLSpec{ClusterRef: ClusterRef{Name: "store"}, Users: []UserSpec{{Name: "app"}, {Name: "open", Nopass: true}}}}
	acl.Default()
	enabled := true
	want := []UserSpec{
		{Name: "app", Enabled: &enabled, PasswordSecret: &UserPasswordSecret{Name: "store-users", Keys: []string{"app"}}},
		{Name: "open", Enabled: &enabled, Nopass: true},
	}
	if diff := cmp.Diff(want, acl.Spec.Users); diff != "" {
		t.Errorf("users (-want +got):\n%s", diff)
	}
}

func TestPullPolicyFollowsTag(t *testing.T) {
	for image, want := range map[string]corev1.PullPolicy{
		"valkey":                                corev1.PullAlways,
		"valkey:latest":                         corev1.PullAlways,
		"registry:5000/valkey":                  corev1.PullAlways,
		"valkey:9.1":                            corev1.PullIfNotPresent,
		"valkey@sha256:" + digits64:             corev1.PullIfNotPresent,
		"registry:5000/valkey:latest@" + digits: corev1.PullIfNotPresent,
	} {
		if got := (&ValkeyCluster{}).PullPolicy(image); got != want {
			t.Errorf("PullPolicy(%q) = %s, want %s", image, got, want)
		}
	}
	never := &ValkeyCluster{Spec: ValkeyClusterSpec{ImagePullPolicy: corev1.PullNever}}
	if got := never.PullPolicy("valkey"); got != corev1.PullNever {
		t.Errorf("PullPolicy with a policy = %s, want Never", got)
	}
}

const (
	digits64 = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	digits   = "sha256:" + digits64
)

func TestAtLeastComparesNumbers(t *testing.T) {
	for _, tc := range []struct {
		have, want string
		is         bool
	}{
		{"9.1", "9.0", true},
		{"9.1", "9.1", true},
		{"9.0", "9.1", false},
		{"8.1", "9.0", false},
		{"10.0", "9.1", true},
		{"9.10", "9.9", true},
		{"", "9.1", true},
		{"nine", "8.0", false},
	} {
		c := &ValkeyCluster{Spec: ValkeyClusterSpec{Version: tc.have}}
		if got := c.AtLeast(tc.want); got != tc.is {
			t.Errorf("version %q AtLeast(%q) = %t, want %t", tc.have, tc.want, got, tc.is)
		}
	}
}

// getters calls every exported method of a cluster that takes nothing and
// returns one value.
func getters(c *ValkeyCluster) map[string]any {
	values := map[string]any{}
	v := reflect.ValueOf(c)
	own := reflect.TypeFor[ValkeyCluster]()
	for i := range v.NumMethod() {
		m := v.Type().Method(i)
		if m.Type.NumIn() != 1 || m.Type.NumOut() != 1 || promoted(own, m.Name) || strings.HasPrefix(m.Name, "DeepCopy") || m.Name == "Validate" {
			continue
		}
		values[m.Name] = v.Method(i).Call(nil)[0].Interface()
	}
	return values
}

// promoted says whether a method comes from an embedded type.
func promoted(own reflect.Type, method string) bool {
	for i := range own.NumField() {
		if f := own.Field(i); f.Anonymous {
			if _, ok := reflect.PointerTo(f.Type).MethodByName(method); ok {
				return true
			}
		}
	}
	return false
}

func readCluster(t *testing.T, file string) *ValkeyCluster {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var c ValkeyCluster
	if err := yaml.UnmarshalStrict(data, &c); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return &c
}
