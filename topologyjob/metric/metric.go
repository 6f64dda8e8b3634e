// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package metric

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Prefix of the names of all metrics.
const Prefix = "valkey_reconciler_"

// Set are all metrics. A nil Set takes everything and keeps nothing.
type Set struct {
	counters   map[string]*prometheus.CounterVec
	gauges     map[string]*prometheus.GaugeVec
	histograms map[string]*prometheus.HistogramVec

	mu sync.Mutex
	// replicas are those that have a series of their lag, by cluster.
	replicas map[cluster]map[Replica]bool
}

// cluster is whose series they are.
type cluster struct{ namespace, name string }

// buckets of the histograms, in seconds.
func buckets(name string) []float64 {
	if name == nameDuration {
		return []float64{1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600}
	}
	return []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2, 4}
}

// New makes the metrics of a program of a version.
func New(version string) *Set {
	s := &Set{
		counters: map[string]*prometheus.CounterVec{}, gauges: map[string]*prometheus.GaugeVec{}, histograms: map[string]*prometheus.HistogramVec{},
		replicas: map[cluster]map[Replica]bool{},
	}
	for _, d := range Definitions() {
		switch d.Type {
		case "counter":
			s.counters[d.Name] = prometheus.NewCounterVec(prometheus.CounterOpts{Name: Prefix + d.Name, Help: d.Help}, d.Labels)
		case "gauge":
			s.gauges[d.Name] = prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: Prefix + d.Name, Help: d.Help}, d.Labels)
		case "histogram":
			s.histograms[d.Name] = prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: Prefix + d.Name, Help: d.Help, Buckets: buckets(d.Name)}, d.Labels)
		}
	}
	s.gauges[nameBuild].WithLabelValues(version).Set(1)
	return s
}

// Register registers all metrics.
func (s *Set) Register(r prometheus.Registerer) error {
	var failed []error
	for _, d := range Definitions() {
		var c prometheus.Collector
		switch d.Type {
		case "counter":
			c = s.counters[d.Name]
		case "gauge":
			c = s.gauges[d.Name]
		default:
			c = s.histograms[d.Name]
		}
		if err := r.Register(c); err != nil {
			failed = append(failed, fmt.Errorf("%s%s: %w", Prefix, d.Name, err))
		}
	}
	return errors.Join(failed...)
}

// Reconciled counts a look at a ValkeyCluster.
func (s *Set) Reconciled(namespace, name string, err error) {
	if s == nil {
		return
	}
	result := Success
	if err != nil {
		result = Failure
	}
	s.counters[nameReconciles].WithLabelValues("valkeycluster", namespace, name, result).Inc()
}

// Surveyed takes over how long a survey took.
func (s *Set) Surveyed(took time.Duration) {
	if s != nil {
		s.histograms[nameSurveys].WithLabelValues().Observe(took.Seconds())
	}
}

// Drop drops the series of a cluster.
func (s *Set) Drop(namespace, name string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	delete(s.replicas, cluster{namespace, name})
	s.mu.Unlock()
	s.counters[nameReconciles].DeletePartialMatch(prometheus.Labels{"namespace": namespace, "name": name})
	of := prometheus.Labels{"namespace": namespace, "cluster": name}
	for _, d := range Definitions() {
		if len(d.Labels) < 2 || d.Labels[1] != "cluster" {
			continue
		}
		if c := s.counters[d.Name]; c != nil {
			c.DeletePartialMatch(of)
		}
		if g := s.gauges[d.Name]; g != nil {
			g.DeletePartialMatch(of)
		}
	}
}
