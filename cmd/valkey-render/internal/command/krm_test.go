// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// resourceList wraps objects as an orchestrator does.
func resourceList(objects ...string) string {
	list := "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n"
	for _, object := range objects {
		list += "- " + strings.ReplaceAll(strings.TrimSpace(object), "\n", "\n  ") + "\n"
	}
	return list
}

const service = "apiVersion: v1\nkind: Service\nmetadata:\n  name: mine\n"

func function(t *testing.T, code int, in string, args ...string) (kinds []string, results int, got invocation) {
	t.Helper()
	s := newSession(t, nil)
	s.stdin = strings.NewReader(in)
	got = s.must(code, append([]string{"build", "--output", "krm"}, args...)...)
	var out struct {
		Kind  string
		Items []struct {
			Kind     string
			Metadata struct{ Name string }
		}
		Results []any
	}
	if err := yaml.Unmarshal([]byte(got.out), &out); err != nil {
		t.Fatal(err)
	}
	for _, item := range out.Items {
		kinds = append(kinds, item.Kind+"/"+item.Metadata.Name)
	}
	return kinds, len(out.Results), got
}

func TestFunctionRendersTheSpecsOfAList(t *testing.T) {
	items, _, _ := function(t, exitOK, resourceList(service, smallest))
	all := strings.Join(items, " ")
	for _, want := range []string{"Service/mine", "ValkeyCluster/cache", "StatefulSet/cache-0"} {
		if !strings.Contains(all, want) {
			t.Errorf("no %s in %s", want, all)
		}
	}
}

func TestFunctionPassesAListWithoutSpecs(t *testing.T) {
	items, results, _ := function(t, exitOK, resourceList(service))
	if strings.Join(items, " ") != "Service/mine" || results != 0 {
		t.Errorf("got %v, %d results", items, results)
	}
}

func TestFunctionAnswersWithResultsWhenItFails(t *testing.T) {
	items, results, got := function(t, exitError, resourceList(service, wrong))
	if strings.Join(items, " ") != "Service/mine ValkeyCluster/cache" || results != 3 {
		t.Errorf("got %v, %d results", items, results)
	}
	if !strings.Contains(got.err, "VR0101") {
		t.Errorf("said %s", got.err)
	}
}

func TestFunctionRefusesWhatIsNoList(t *testing.T) {
	for _, in := range []string{"", service, "a: [", "kind: ResourceList\n"} {
		items, _, got := function(t, exitError, in)
		if len(items) > 0 || got.out != "" || !strings.HasPrefix(got.err, "<stdin>: error VR0014: ") {
			t.Errorf("%q: %s%s", in, got.out, got.err)
		}
	}
}
