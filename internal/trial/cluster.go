// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/valkey-render/valkey-render/internal/localpod"
	"github.com/valkey-render/valkey-render/render/conf"
	"github.com/valkey-render/valkey-render/topologyjob/converge"
	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/plan"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// bring runs what a Job of a kind runs: survey, plan and steps, until every pod has its
// place. Pods that are to go take part too.
func (t *Trial) bring(ctx context.Context, kind converge.Kind, d plan.Desired, data, sentinels []*localpod.Pod) error {
	dialer, err := t.dialer()
	if err != nil {
		return err
	}
	pool := node.NewPool(dialer)
	defer pool.Close()
	said := map[string]bool{}
	out := converge.Run(ctx, converge.Options{
		Kind: kind, Desired: d, Pods: t.surveyed(slices.Concat(data, t.surplus())), Sentinels: t.watchers(sentinels),
		Asker: survey.Asker{Pool: pool}, Clock: clock{}, Wait: true, Login: dialer.Login,
		SentinelLogin: t.sentinelLogin, SentinelSettings: conf.SentinelSettings(t.current.Cluster),
		OnStep: func(s plan.Step, err error) {
			// The same again is the rest of it, a pass later.
			if kind := s.Kind(); err == nil && !said[kind] {
				said[kind] = true
				t.note("%s", s)
			}
		},
	})
	switch out.Result {
	case converge.Converged:
		return nil
	case converge.Stuck:
		return &hopelessError{fmt.Errorf("the cluster cannot be formed: %s: %s", out.Reason, out.Message)}
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%w: forming the cluster: %s", err, out.Message)
	}
	return fmt.Errorf("forming the cluster ended with %s: %s", out.Result, out.Message)
}

// surveyed are the pods as a survey asks them: each at its place.
func (t *Trial) surveyed(data []*localpod.Pod) []survey.Pod {
	var pods []survey.Pod
	for _, p := range data {
		shard, err := strconv.Atoi(p.StatefulSet()[strings.LastIndexByte(p.StatefulSet(), '-')+1:])
		if err != nil {
			continue // not a shard's
		}
		at := t.address(p)
		pods = append(pods, survey.Pod{Name: p.Name(), Shard: int32(shard), Index: int32(p.Ordinal()), Host: at.IP, Port: at.Port, Runs: runs(p)})
	}
	return pods
}

// watchers are the sentinels as a survey asks them.
func (t *Trial) watchers(sentinels []*localpod.Pod) []survey.Pod {
	var pods []survey.Pod
	for _, p := range sentinels {
		at := t.address(p)
		pods = append(pods, survey.Pod{Name: p.Name(), Index: int32(p.Ordinal()), Host: at.IP, Port: at.Port, Runs: runs(p)})
	}
	return pods
}

func runs(p *localpod.Pod) survey.Runs {
	if p.Running() {
		return survey.Running
	}
	return survey.Stopped
}

// clock is the real time.
type clock struct{}

func (clock) Now() time.Time { return time.Now() }

func (clock) Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
