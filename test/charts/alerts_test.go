// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package charts

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	commonmodel "github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/util/annotations"

	"github.com/valkey-render/valkey-render/topologyjob/metric"
)

// step is how often series have samples and rules are evaluated.
const step = 30 * time.Second

func grammar() parser.Parser { return parser.NewParser(parser.Options{}) }

func alerts(t testing.TB) []rulefmt.Rule {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(directory(reconciler), "files", "alerts.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	groups, errs := rulefmt.Parse(text, false, commonmodel.UTF8Validation, grammar(), slog.New(slog.DiscardHandler))
	for _, err := range errs {
		t.Fatal(err)
	}
	var out []rulefmt.Rule
	for _, g := range groups.Groups {
		out = append(out, g.Rules...)
	}
	return out
}

// memory has series of samples, a step apart, in the notation of promtool.
type memory []storage.Series

func (m memory) Querier(int64, int64) (storage.Querier, error) {
	return &storage.MockQuerier{SelectMockFunction: func(_ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
		var found []storage.Series
		for _, series := range m {
			if !slices.ContainsFunc(matchers, func(is *labels.Matcher) bool { return !is.Matches(series.Labels().Get(is.Name)) }) {
				found = append(found, series)
			}
		}
		return &listed{series: found, at: -1}
	}}, nil
}

// listed is a list of series as the engine reads it.
type listed struct {
	series []storage.Series
	at     int
}

func (l *listed) Next() bool                        { l.at++; return l.at < len(l.series) }
func (l *listed) At() storage.Series                { return l.series[l.at] }
func (l *listed) Err() error                        { return nil }
func (l *listed) Warnings() annotations.Annotations { return nil }

type sample struct {
	at    int64
	value float64
}

func (s sample) T() int64                      { return s.at }
func (s sample) ST() int64                     { return 0 }
func (s sample) F() float64                    { return s.value }
func (s sample) H() *histogram.Histogram       { return nil }
func (s sample) FH() *histogram.FloatHistogram { return nil }
func (s sample) Type() chunkenc.ValueType      { return chunkenc.ValFloat }
func (s sample) Copy() chunks.Sample           { return s }

func remember(t testing.TB, series ...string) memory {
	t.Helper()
	var m memory
	for _, text := range series {
		set, values, err := grammar().ParseSeriesDesc(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		var samples []chunks.Sample
		for i, v := range values {
			if !v.Omitted {
				samples = append(samples, sample{int64(i) * step.Milliseconds(), v.Value})
			}
		}
		m = append(m, storage.NewListSeries(set, samples))
	}
	return m
}

// fires are the labels of the alerts of a rule that fire after a time: those whose
// expression held at every evaluation for as long as the rule says.
func fires(t testing.TB, rule rulefmt.Rule, m memory, after time.Duration) []string {
	t.Helper()
	engine := promql.NewEngine(promql.EngineOpts{
		Logger: slog.New(slog.DiscardHandler), MaxSamples: 1e6, Timeout: time.Minute, LookbackDelta: 5 * time.Minute, Parser: grammar(),
	})
	since := map[string]time.Duration{}
	for at := time.Duration(0); at <= after; at += step {
		query, err := engine.NewInstantQuery(context.Background(), m, nil, rule.Expr, time.UnixMilli(at.Milliseconds()))
		if err != nil {
			t.Fatal(err)
		}
		result := query.Exec(context.Background())
		vector, err := result.Vector()
		if err != nil {
			t.Fatal(err)
		}
		now := map[string]time.Duration{}
		for _, s := range vector {
			key := labels.NewBuilder(s.Metric).Del(commonmodel.MetricNameLabel).Labels().String()
			now[key] = at
			if began, ok := since[key]; ok {
				now[key] = began
			}
		}
		since = now
		query.Close()
	}
	var out []string
	for key, began := range since {
		if after-began >= time.Duration(rule.For) {
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return out
}

// alertCase is what a rule makes of series after a time: the labels of what fires.
type alertCase struct {
	alert  string
	series []string
	after  time.Duration
	want   []string
}

const p = metric.Prefix

func alertCases() []alertCase {
	const cache = `{cluster="cache", namespace="shop"}`
	state := func(name, values string) string {
		return p + `cluster_state{namespace="shop",cluster="cache",state="` + name + `"} ` + values
	}
	of := func(name, more, values string) string {
		return p + name + `{namespace="shop",cluster="cache"` + more + `} ` + values
	}
	slow := func(values string) []string {
		return []string{
			p + `survey_duration_seconds_bucket{le="2"} ` + values, p + `survey_duration_seconds_bucket{le="4"} 0+10x90`,
			p + `survey_duration_seconds_bucket{le="+Inf"} 0+10x90`,
		}
	}
	m := time.Minute
	return []alertCase{
		{"ValkeyReconcilerDown", nil, 5 * m, []string{"{}"}},
		{"ValkeyReconcilerDown", nil, 4 * m, nil},
		{"ValkeyReconcilerDown", []string{p + `build_info{version="v1"} 1x20`}, 10 * m, nil},
		{"ValkeyReconcilerDown", []string{p + `build_info{version="v1"} 1 1 stale`}, 10 * m, []string{"{}"}},

		{"ValkeyReconcileErrors", []string{p + `reconcile_total{controller="valkeycluster",namespace="shop",name="cache",result="error"} 0+1x60`}, 20 * m, []string{`{name="cache", namespace="shop"}`}},
		{"ValkeyReconcileErrors", []string{p + `reconcile_total{controller="valkeycluster",namespace="shop",name="cache",result="error"} 0 1 1x60`}, 20 * m, nil},
		{"ValkeyReconcileErrors", []string{p + `reconcile_total{controller="valkeycluster",namespace="shop",name="cache",result="success"} 0+1x60`}, 20 * m, nil},

		{"ValkeySurveySlow", slow("0+5x90"), 30 * m, []string{"{}"}},
		{"ValkeySurveySlow", slow("0+10x90"), 30 * m, nil},

		{"ValkeyClusterFailed", []string{state("Failed", "1x10"), state("Ready", "0x10")}, m, []string{`{cluster="cache", namespace="shop", state="Failed"}`}},
		{"ValkeyClusterFailed", []string{state("Failed", "0x10"), state("Degraded", "1x10")}, 5 * m, nil},

		{"ValkeyClusterDegraded", []string{state("Degraded", "1x20")}, 5 * m, []string{`{cluster="cache", namespace="shop", state="Degraded"}`}},
		{"ValkeyClusterDegraded", []string{state("Degraded", "1 1 1 0 1x20")}, 5 * m, nil},

		{"ValkeyClusterNotReady", []string{state("Reconciling", "1x70")}, 30 * m, []string{`{cluster="cache", namespace="shop", state="Reconciling"}`}},
		{"ValkeyClusterNotReady", []string{state("Hibernated", "1x70")}, 35 * m, nil},

		{"ValkeyShardDown", []string{of("cluster_shards", `,health="Down"`, "0 2x10")}, 2 * m, []string{`{cluster="cache", health="Down", namespace="shop"}`}},
		{"ValkeyShardDown", []string{of("cluster_shards", `,health="Down"`, "0x10"), of("cluster_shards", `,health="Degraded"`, "2x10")}, 5 * m, nil},

		{"ValkeySlotsUnassigned", []string{of("cluster_slots_assigned", "", "10923x10")}, 2 * m, []string{cache}},
		{"ValkeySlotsUnassigned", []string{of("cluster_slots_assigned", "", "16384x10")}, 5 * m, nil},

		{"ValkeyReplicaLag", []string{of("replica_lag_bytes", `,shard="0",pod="cache-0-1"`, "1e8x20")}, 5 * m, []string{`{cluster="cache", namespace="shop", pod="cache-0-1", shard="0"}`}},
		{"ValkeyReplicaLag", []string{of("replica_lag_bytes", `,shard="0",pod="cache-0-1"`, "1000x20")}, 10 * m, nil},

		{"ValkeyFailoversRepeat", []string{of("failover_total", `,kind="promotion"`, "0x10 2x10 4x40")}, 25 * m, []string{cache}},
		{"ValkeyFailoversRepeat", []string{of("failover_total", `,kind="handover"`, "0+1x60")}, 25 * m, nil},
		{"ValkeyFailoversRepeat", []string{of("failover_total", `,kind="takeover"`, "0x10 1x50")}, 25 * m, nil},

		{"ValkeyJobsFail", []string{of("job_total", `,kind="rebalance",result="error"`, "0x10 2x10 4x40")}, 25 * m, []string{`{cluster="cache", kind="rebalance", namespace="shop"}`}},
		{"ValkeyJobsFail", []string{of("job_total", `,kind="rebalance",result="success"`, "0+1x60")}, 25 * m, nil},

		{"ValkeySettingsNotApplied", []string{of("acl_apply_total", `,result="error"`, "0+1x60")}, 15 * m, []string{cache}},
		{"ValkeySettingsNotApplied", []string{of("tls_reload_total", `,result="error"`, "0+1x60")}, 15 * m, []string{cache}},
		{"ValkeySettingsNotApplied", []string{of("rotation_total", `,result="error"`, "0+1x60")}, 15 * m, []string{cache}},
		{"ValkeySettingsNotApplied", []string{of("acl_apply_total", `,result="success"`, "0+1x60")}, 15 * m, nil},
	}
}

func TestAlertsFireWhenTheyShould(t *testing.T) {
	rules := map[string]rulefmt.Rule{}
	missing := map[string]bool{}
	for _, r := range alerts(t) {
		rules[r.Alert] = r
		missing[r.Alert+" firing"], missing[r.Alert+" silent"] = true, true
	}
	for _, c := range alertCases() {
		rule, ok := rules[c.alert]
		if !ok {
			t.Errorf("no alert %s", c.alert)
			continue
		}
		delete(missing, c.alert+map[bool]string{true: " firing", false: " silent"}[c.want != nil])
		if diff := cmp.Diff(c.want, fires(t, rule, remember(t, c.series...), c.after)); diff != "" {
			t.Errorf("%s after %s of %v (-want +got)\n%s", c.alert, c.after, c.series, diff)
		}
	}
	for what := range missing {
		t.Errorf("no case of %s", what)
	}
}

func TestAlertsSayWhatAndHowBad(t *testing.T) {
	for _, r := range alerts(t) {
		if r.Annotations["summary"] == "" || r.Annotations["description"] == "" || !slices.Contains([]string{"critical", "warning"}, r.Labels["severity"]) {
			t.Errorf("%s: labels %v, annotations %v", r.Alert, r.Labels, r.Annotations)
		}
	}
}

// TestNamesOfMetricsAreDefined: those in rules, dashboard and pages, with labels that the
// metric has.
func TestNamesOfMetricsAreDefined(t *testing.T) {
	defined := map[string]metric.Definition{}
	for _, d := range metric.Definitions() {
		defined[p+d.Name] = d
		if d.Type == "histogram" {
			for _, end := range []string{"_bucket", "_sum", "_count"} {
				defined[p+d.Name+end] = metric.Definition{Name: d.Name + end, Labels: append(slices.Clone(d.Labels), "le")}
			}
		}
	}
	files := []string{"charts/valkey-reconciler/files/alerts.yaml", "charts/valkey-reconciler/files/dashboard.json"}
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil || len(pages) < 10 {
		t.Fatalf("%d pages: %v", len(pages), err)
	}
	for _, page := range pages {
		files = append(files, filepath.Join("docs", filepath.Base(page)))
	}
	found := 0
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range regexp.MustCompile(p+`[a-z_]+`).FindAllString(string(text), -1) {
			found++
			if _, ok := defined[name]; !ok {
				t.Errorf("%s: no metric %s", file, name)
			}
		}
	}
	var expressions []string
	for _, r := range alerts(t) {
		expressions = append(expressions, r.Expr)
	}
	for _, text := range append(expressions, panels(t)...) {
		for name, used := range selected(t, text) {
			for _, label := range used {
				if !slices.Contains(defined[name].Labels, label) {
					t.Errorf("%s: %s has no label %s", text, name, label)
				}
			}
		}
	}
	if found < 40 {
		t.Errorf("only %d names found", found)
	}
}

// selected are the labels that an expression selects by, by metric.
func selected(t testing.TB, text string) map[string][]string {
	t.Helper()
	expression, err := grammar().ParseExpr(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	out := map[string][]string{}
	parser.Inspect(expression, func(node parser.Node, _ []parser.Node) error {
		if s, ok := node.(*parser.VectorSelector); ok {
			for _, m := range s.LabelMatchers {
				if m.Name != commonmodel.MetricNameLabel {
					out[s.Name] = append(out[s.Name], m.Name)
				}
			}
		}
		return nil
	})
	return out
}

// panels are the expressions of the dashboard.
func panels(t testing.TB) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(directory(reconciler), "files", "dashboard.json"))
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, p := range dashboard.Panels {
		for _, target := range p.Targets {
			out = append(out, target.Expr)
		}
	}
	if len(out) < 15 {
		t.Fatalf("%d expressions", len(out))
	}
	return out
}
