// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package argument

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

func TestSentinel(t *testing.T) {
	got, err := Sentinel("c-sentinel-2=10.0.0.1,runs=Stopped", 26379)
	if diff := cmp.Diff(survey.Pod{Name: "c-sentinel-2", Index: 2, Host: "10.0.0.1", Port: 26379, Runs: survey.Stopped}, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	for _, flag := range []string{"", "=", "c", "c-0-0=h", "c-sentinel-=h", "c-sentinel--1=h", "-2=h", "2=h", "c-sentinel-2=", "c-sentinel-2=h,port=0"} {
		if pod, err := Sentinel(flag, 1); err == nil {
			t.Errorf("%q: %+v", flag, pod)
		}
	}
}
