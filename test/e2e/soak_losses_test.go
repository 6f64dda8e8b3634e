// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

//go:build cluster

package e2e

import (
	"fmt"
	"net"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/valkey-render/valkey-render/internal/traffic"
)

// unreplicated is how long before the end of a primary a write may have been acknowledged
// that no replica had: replication is asynchronous, and replicas that fall behind, or copy
// everything anew, are some seconds late.
const unreplicated = 15 * time.Second

// death is the end of servers, at least as others see it, between two times.
type death struct {
	what     string
	from, to time.Time
	hosts    []string // addresses of their pods
}

// died notes that the servers of pods have died since a time.
func (s *soak) died(what string, since time.Time, pods ...corev1.Pod) {
	d := death{what: what, from: since, to: time.Now()}
	for _, pod := range pods {
		d.hosts = append(d.hosts, pod.Status.PodIP)
	}
	s.Logf("%s   %s: %v", clock(), what, d.hosts)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deaths = append(s.deaths, d)
}

// explained checks that every lost key was acknowledged by a server that died within seconds.
func (s *soak) explained(sub *subject, r traffic.Report) {
	s.Helper()
	s.Logf("%s: %s; %d lost", sub.name, r, r.Lost)
	why, unexplained := map[string]int{}, 0
	for _, lost := range r.LostKeys {
		if d := s.death(lost); d != nil {
			why[fmt.Sprintf("%s at %s", d.what, d.from.UTC().Format("15:04:05.0"))]++
			continue
		}
		if unexplained++; unexplained <= 20 {
			s.Errorf("%s: %+v is lost, and who acknowledged it did not die", sub.name, lost)
		}
	}
	for what, n := range why {
		s.Logf("%s: %d keys are lost that were acknowledged in the %s before: %s", sub.name, n, unreplicated, what)
	}
	if unexplained > 0 {
		s.Errorf("%s: %d of %d lost keys are not explained by the end of a primary; SOAKSEED=%d", sub.name, unexplained, r.Lost, s.seed)
	}
}

// death is the one that explains a loss, or nil.
func (s *soak) death(lost traffic.Lost) *death {
	host, _, err := net.SplitHostPort(lost.By)
	if err != nil {
		return nil
	}
	for i, d := range s.deaths {
		for _, dead := range d.hosts {
			if dead == host && lost.Acknowledged.After(d.from.Add(-unreplicated)) && lost.Acknowledged.Before(d.to.Add(time.Second)) {
				return &s.deaths[i]
			}
		}
	}
	return nil
}
