// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
)

// noon is the time of every test.
var noon = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

func TestActiveJobs(t *testing.T) {
	started := metav1.NewTime(noon)
	ordered := v1alpha1.ActiveJob{Kind: "repair", Name: "c-repair-3", Attempt: 1}
	repair := v1alpha1.ActiveJob{Kind: "repair", Name: "c-repair-3", StartedAt: &started, Attempt: 1}
	job := Job{Name: "c-repair-3", Kind: "repair", Serial: 3, Attempt: 1, Phase: JobActive, Started: noon}
	in := func(j Job, phase Phase) []Job { j.Phase = phase; return []Job{j} }
	for name, test := range map[string]struct {
		before []v1alpha1.ActiveJob
		jobs   []Job
		start  []Start
		want   []v1alpha1.ActiveJob
	}{
		"one about to start is there before it exists": {nil, nil, []Start{{Name: "c-repair-3", Kind: "repair", Serial: 3, Attempt: 1}}, []v1alpha1.ActiveJob{ordered}},
		"one that is seen has a start":                 {[]v1alpha1.ActiveJob{ordered}, in(job, JobActive), nil, []v1alpha1.ActiveJob{repair}},
		"one that is not seen stays":                   {[]v1alpha1.ActiveJob{repair}, nil, nil, []v1alpha1.ActiveJob{repair}},
		"one that runs stays as it was":                {[]v1alpha1.ActiveJob{repair}, in(job, JobActive), nil, []v1alpha1.ActiveJob{repair}},
		"one that runs and was forgotten comes back":   {nil, in(job, JobActive), nil, []v1alpha1.ActiveJob{repair}},
		"one that ended goes":                          {[]v1alpha1.ActiveJob{repair}, in(job, JobEnded), nil, nil},
		"one that is gone goes":                        {[]v1alpha1.ActiveJob{repair}, in(job, JobGone), nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			c := &v1alpha1.ValkeyCluster{}
			c.Name, c.Status.ActiveJobs = "c", test.before
			got := Compute(c, Observed{Jobs: test.jobs, Next: Next{Start: test.start}}, noon).Status
			if diff := cmp.Diff(test.want, got.ActiveJobs); diff != "" {
				t.Error(diff)
			}
			if known := len(test.jobs)+len(test.start) > 0; known && got.JobSerial != 3 {
				t.Errorf("serial %d", got.JobSerial)
			}
		})
	}
}
