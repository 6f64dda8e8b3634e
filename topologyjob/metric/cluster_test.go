// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package metric_test

import (
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/topologyjob/job"
	"github.com/valkey-render/valkey-render/topologyjob/metric"
	"github.com/valkey-render/valkey-render/topologyjob/outcome"
	"github.com/valkey-render/valkey-render/topologyjob/status"
)

// series are those of a registry, each as name{label="value",…} with its value or count.
func series(t *testing.T, r prometheus.Gatherer) map[string]float64 {
	t.Helper()
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetName()+`="`+l.GetValue()+`"`)
			}
			called := strings.TrimPrefix(f.GetName(), metric.Prefix) + "{" + strings.Join(labels, ",") + "}"
			all[called] = m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return all
}

// lived is a Set after everything that can happen has happened to shop/cache.
func lived(t *testing.T) (*metric.Set, *prometheus.Registry, *v1alpha1.ValkeyCluster) {
	t.Helper()
	s, r := metric.New("v1"), prometheus.NewRegistry()
	if err := s.Register(r); err != nil {
		t.Fatal(err)
	}
	c := &v1alpha1.ValkeyCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cache"}}
	c.Default()
	s.Reconciled("shop", "cache", nil)
	s.Reconciled("shop", "cache", errors.New("no"))
	s.Surveyed(time.Millisecond)
	now := &v1alpha1.ValkeyClusterStatus{
		State:        v1alpha1.StateDegraded,
		ShardDetails: []v1alpha1.ShardStatus{{Health: v1alpha1.ShardReady, SlotCount: 8192}, {Index: 1, Health: v1alpha1.ShardDown, SlotCount: 8190}},
	}
	m := status.Measured{
		Lags:      []status.Lag{{Shard: 0, Pod: "cache-0-1", Bytes: 100}, {Shard: 1, Pod: "cache-1-1", Bytes: 7}},
		Failovers: []string{status.FailoverHandover, status.FailoverPromotion, status.FailoverTakeover, status.FailoverAdoption},
	}
	start := time.Unix(1000, 0)
	for _, kind := range []string{
		job.Bootstrap, job.Repair, job.Rebalance, job.Reshard, job.Drain, job.Handover, job.Failover, job.Takeover,
		job.LiveConfig, job.ACL, job.TLS, job.Rotate, job.Apply,
	} {
		for _, result := range []outcome.Result{outcome.Converged, outcome.Failed, outcome.Deadline, outcome.Interrupted} {
			m.Ended = append(m.Ended, status.Job{
				Kind: kind, Phase: status.JobEnded, Started: start, Ended: start.Add(3 * time.Second),
				Outcome: &outcome.Outcome{Kind: kind, Result: result, Counts: map[string]int64{"movedSlots": 10}},
			})
		}
		m.Ended = append(m.Ended, status.Job{Kind: kind, Phase: status.JobEnded})
	}
	s.Looked(c, now, m)
	return s, r, c
}

// TestEveryMetricIsFed with what happens to a cluster.
func TestEveryMetricIsFed(t *testing.T) {
	_, r, _ := lived(t)
	got := series(t, r)
	const of = `cluster="cache",`
	for called, want := range map[string]float64{
		`build_info{version="v1"}`: 1,
		`reconcile_total{controller="valkeycluster",name="cache",namespace="shop",result="error"}`: 1,
		`survey_duration_seconds{}`:                                                1,
		`cluster_state{` + of + `namespace="shop",state="Degraded"}`:               1,
		`cluster_state{` + of + `namespace="shop",state="Ready"}`:                  0,
		`cluster_shards{` + of + `health="Down",namespace="shop"}`:                 1,
		`cluster_slots_assigned{` + of + `namespace="shop"}`:                       16382,
		`replica_lag_bytes{` + of + `namespace="shop",pod="cache-0-1",shard="0"}`:  100,
		`job_total{` + of + `kind="repair",namespace="shop",result="error"}`:       3,
		`job_total{` + of + `kind="repair",namespace="shop",result="interrupted"}`: 1,
		`job_duration_seconds{kind="repair"}`:                                      4,
		`failover_total{` + of + `kind="adoption",namespace="shop"}`:               1,
		`bootstrap_total{` + of + `namespace="shop",result="success"}`:             1,
		`scale_total{` + of + `direction="up",namespace="shop",result="success"}`:  1,
		`scale_total{` + of + `direction="down",namespace="shop",result="error"}`:  3,
		`slots_moved_total{` + of + `namespace="shop"}`:                            13 * 4 * 10,
		`acl_apply_total{` + of + `namespace="shop",result="error"}`:               3,
		`tls_reload_total{` + of + `namespace="shop",result="success"}`:            1,
		`rotation_total{` + of + `namespace="shop",result="error"}`:                3,
	} {
		if value, there := got[called]; !there || value != want {
			t.Errorf("%s is %v (%v), want %v", called, value, there, want)
		}
	}
	for _, d := range metric.Definitions() {
		if !slices.ContainsFunc(slices.Collect(keys(got)), func(s string) bool { return strings.HasPrefix(s, d.Name+"{") }) {
			t.Errorf("%s is never fed", d.Name)
		}
	}
}

func keys(m map[string]float64) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// TestSeriesGoWithWhatTheyAreAbout: replicas that are gone, a cluster that hibernates, one
// that is deleted.
func TestSeriesGoWithWhatTheyAreAbout(t *testing.T) {
	s, r, c := lived(t)
	s.Looked(c, &v1alpha1.ValkeyClusterStatus{State: v1alpha1.StateHibernated}, status.Measured{Lags: []status.Lag{{Shard: 1, Pod: "cache-1-1", Bytes: 7}}})
	for called := range series(t, r) {
		if strings.Contains(called, "cache-0-1") || strings.HasPrefix(called, "cluster_slots_assigned") {
			t.Errorf("%s is still there", called)
		}
	}
	other := c.DeepCopy()
	other.Name = "other"
	s.Looked(other, &v1alpha1.ValkeyClusterStatus{State: v1alpha1.StateReady}, status.Measured{})
	s.Drop("shop", "cache")
	left := 0
	for called := range series(t, r) {
		if strings.Contains(called, `="cache`) {
			t.Errorf("%s is still there", called)
		}
		if strings.Contains(called, `="other"`) {
			left++
		}
	}
	if left == 0 {
		t.Error("series of another cluster went too")
	}
}

// TestEveryAlertHasItsSeries: those that it selects, with the values of labels that it names.
func TestEveryAlertHasItsSeries(t *testing.T) {
	text, err := os.ReadFile("../../charts/valkey-reconciler/files/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, r, _ := lived(t)
	got := slices.Collect(keys(series(t, r)))
	selector := regexp.MustCompile(metric.Prefix + `([a-z_]+)(?:\{([^}]*)\})?`)
	found := 0
	for _, m := range selector.FindAllStringSubmatch(string(text), -1) {
		called := strings.TrimSuffix(m[1], "_bucket")
		var wanted []string
		for _, matcher := range strings.Split(m[2], ",") {
			if label, value, is := strings.Cut(matcher, `="`); is && !strings.HasSuffix(label, "!") {
				wanted = append(wanted, label+`="`+value)
			}
		}
		found++
		if !slices.ContainsFunc(got, func(s string) bool {
			return strings.HasPrefix(s, called+"{") && !slices.ContainsFunc(wanted, func(w string) bool { return !strings.Contains(s, w) })
		}) {
			t.Errorf("no series for %s", m[0])
		}
	}
	if found < 12 {
		t.Errorf("%d selectors found", found)
	}
}
