// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"context"
	"fmt"

	"github.com/valkey-render/valkey-render/internal/localpod"
	"github.com/valkey-render/valkey-render/render/conf"
	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/outcome"
	"github.com/valkey-render/valkey-render/topologyjob/setting"
	"github.com/valkey-render/valkey-render/topologyjob/settle"
)

// setLive runs what a Job of kind liveconfig runs, with the live file of a rendering. The
// error is a *settle.BlockedError when a server refused.
func (t *Trial) setLive(ctx context.Context, next Rendering) error {
	version := next.Cluster.ServerVersion()
	text, err := conf.Live(next.Cluster, version)
	if err != nil {
		return err
	}
	values, err := setting.ParseLive(version, text)
	if err != nil {
		return err
	}
	report, err := t.settle(ctx, func(o settle.Options) settle.Report {
		return settle.Live(ctx, o, map[string]map[string]string{version: values})
	})
	if err == nil && report.Counts["changed"] > 0 {
		t.note("live directives: %s", report.Message)
	}
	return err
}

// settle runs what a settings Job runs, over the pods that run.
func (t *Trial) settle(ctx context.Context, do func(settle.Options) settle.Report) (settle.Report, error) {
	dialer, err := t.dialer()
	if err != nil {
		return settle.Report{}, err
	}
	pool := node.NewPool(dialer)
	defer pool.Close()
	report := do(settle.Options{Pods: t.settled(), Pool: pool, Clock: clock{}, Wait: true})
	switch report.Result {
	case outcome.Converged:
		return report, nil
	case outcome.Blocked:
		return report, &settle.BlockedError{Reason: report.Reason, Err: fmt.Errorf("%s: %s", report.Reason, report.Message)}
	}
	return report, fmt.Errorf("%w: %s", ctx.Err(), report.Message)
}

// settled are all pods as a settings Job is told of them.
func (t *Trial) settled() []settle.Pod {
	data, sentinels := t.dataPods()
	var pods []settle.Pod
	add := func(p *localpod.Pod, sentinel bool) {
		at := t.address(p)
		pods = append(pods, settle.Pod{Name: p.Name(), Host: at.IP, Port: at.Port, Sentinel: sentinel, Stopped: !p.Running()})
	}
	for _, p := range data {
		add(p, false)
	}
	for _, p := range sentinels {
		add(p, true)
	}
	return pods
}
