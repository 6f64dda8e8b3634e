// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package argument

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

func TestPods(t *testing.T) {
	pods, err := Pods([]string{"c-0-1=10.0.0.1", "my-c-12-0=fd00::1,port=7000,uid=u,runs=Stopped,node=n,zone=z", "c-1-0=,runs=Stopped"}, 6379, "d")
	want := []survey.Pod{
		{Name: "c-0-1", Index: 1, Host: "10.0.0.1", Port: 6379, ServerName: "c-0-1.d"},
		{Name: "my-c-12-0", Shard: 12, Host: "fd00::1", Port: 7000, UID: "u", Runs: survey.Stopped, Node: "n", Zone: "z", ServerName: "my-c-12-0.d"},
		{Name: "c-1-0", Shard: 1, Port: 6379, Runs: survey.Stopped, ServerName: "c-1-0.d"},
	}
	if diff := cmp.Diff(want, pods); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
}

func FuzzPod(f *testing.F) {
	f.Add("c-0-1=10.0.0.1,port=7000,uid=u,runs=Running,node=n,zone=z")
	f.Fuzz(func(t *testing.T, flag string) {
		pod, err := Pod(flag, 6379)
		if err == nil && (pod.Name == "" || pod.Host == "" && pod.Runs != survey.Stopped || pod.Port < 1 || pod.Port > 65535 || pod.Shard < 0 || pod.Index < 0) {
			t.Errorf("%q: %+v", flag, pod)
		}
	})
}
