// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"encoding/json"
	"regexp"
	"testing"

	"sigs.k8s.io/yaml"
)

func TestSpecHashIsOfWhatTheSpecMeans(t *testing.T) {
	hash := func(spec string) string {
		t.Helper()
		c := &ValkeyCluster{}
		c.Name = "cache"
		if err := yaml.UnmarshalStrict([]byte(spec), &c.Spec); err != nil {
			t.Fatal(err)
		}
		before, _ := json.Marshal(c)
		sum, err := c.SpecHash()
		if err != nil || !regexp.MustCompile("^[0-9a-f]{16}$").MatchString(sum) {
			t.Fatalf("%q, %v", sum, err)
		}
		if after, _ := json.Marshal(c); string(before) != string(after) {
			t.Errorf("%s: the cluster was changed", spec)
		}
		return sum
	}
	plain := hash("{}")
	for name, spec := range map[string]string{
		"a default written out":      "shards: 3",
		"delivery":                   "delivery: GitOps",
		"defaults of the API server": "topology: Cluster\nprofile: Cache\nversion: '9.1'",
	} {
		if hash(spec) != plain {
			t.Errorf("%s changes the hash", name)
		}
	}
	for name, spec := range map[string]string{
		"a value":     "shards: 4",
		"a directive": "config: {timeout: '1'}",
		"a flag":      "suspend: true",
	} {
		if hash(spec) == plain {
			t.Errorf("%s does not change the hash", name)
		}
	}
	if hash("resources: {limits: {cpu: 1000m}}") != hash("resources: {limits: {cpu: '1'}}") {
		t.Error("the spelling of a quantity changes the hash")
	}
}
