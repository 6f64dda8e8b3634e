// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/finding"
)

func codes(list finding.List) []string {
	var out []string
	for _, f := range list.Sorted() {
		out = append(out, string(f.Code)+" "+f.Path+": "+f.Message)
	}
	return out
}

func TestErrorsOfFieldsKeepTheirPathsAndOthersAreDefects(t *testing.T) {
	boom := errors.New("boom")
	tooLong := finding.WithCode(field.TooLong(field.NewPath("spec", "config"), "", 3), finding.TooLong)
	for name, tc := range map[string]struct {
		err  error
		want []string
	}{
		"a defect":               {fmt.Errorf("StatefulSet: %w", boom), []string{"VR0118 : StatefulSet: boom"}},
		"a field":                {tooLong, []string{"VR0115 spec.config: may not be more than 3 bytes"}},
		"a field below wrappers": {fmt.Errorf("a: %w", errors.Join(tooLong)), []string{"VR0115 spec.config: may not be more than 3 bytes"}},
		"both":                   {errors.Join(boom, tooLong), []string{"VR0118 : boom", "VR0115 spec.config: may not be more than 3 bytes"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := unit{}.failed(tc.err)
			if diff := cmp.Diff(tc.want, codes(got.findings)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestWhatTheAPIServerFindsTooLargeIsAFindingOfItsField(t *testing.T) {
	big := strings.Repeat("x", 300<<10)
	for name, tc := range map[string]struct {
		change func(*v1alpha1.ValkeyClusterSpec)
		want   []string
	}{
		"live directives": {
			func(s *v1alpha1.ValkeyClusterSpec) { s.Config = map[string]string{"notify-keyspace-events": big} },
			[]string{"VR0115 spec.config: leads to N bytes, and a ConfigMap may have 1048576"},
		},
		"directives of a restart": {
			func(s *v1alpha1.ValkeyClusterSpec) { s.Config = map[string]string{"proc-title-template": big} },
			[]string{"VR0115 spec.config: leads to N bytes, and the annotations of an object may have 262144"},
		},
		"annotations of pods": {
			func(s *v1alpha1.ValkeyClusterSpec) {
				s.Pod = &v1alpha1.PodSpec{Annotations: map[string]string{"big": big}}
			},
			[]string{"VR0115 spec.pod.annotations: leads to N bytes, and the annotations of an object may have 262144"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := &v1alpha1.ValkeyCluster{}
			c.Name = "cache"
			tc.change(&c.Spec)
			effective := c.DeepCopy()
			effective.Default()
			got := codes(unit{written: c, effective: effective}.compose().findings)
			for i := range got {
				before, after, _ := strings.Cut(got[i], " to ")
				_, after, _ = strings.Cut(after, " ")
				got[i] = before + " to N " + after
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}
