// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/internal/localpod"
	"github.com/valkey-render/valkey-render/render/script"
	"github.com/valkey-render/valkey-render/topologyjob/converge"
	"github.com/valkey-render/valkey-render/topologyjob/decision"
	"github.com/valkey-render/valkey-render/topologyjob/plan"
)

// converge starts the pods that do not run, brings the servers together and returns
// once all are ready. Sentinels that do not run come last: they find the primary by
// themselves when there is one.
func (t *Trial) converge(ctx context.Context) error {
	data, sentinels := t.dataPods()
	if err := startAll(data); err != nil {
		return err
	}
	if err := t.answering(ctx, data); err != nil {
		return err
	}
	d := decision.Desired(t.current.Cluster)
	if !slices.ContainsFunc(sentinels, (*localpod.Pod).Running) {
		if err := t.formWithout(ctx, d, data); err != nil {
			return err
		}
	}
	if err := startAll(sentinels); err != nil {
		return err
	}
	if err := t.answering(ctx, sentinels); err != nil {
		return err
	}
	if len(sentinels) > 0 {
		if err := t.bring(ctx, converge.Bootstrap, d, data, sentinels); err != nil {
			return err
		}
	}
	return t.host.Await(ctx)
}

// formWithout brings servers together that no sentinel watches.
func (t *Trial) formWithout(ctx context.Context, d plan.Desired, data []*localpod.Pod) error {
	if d.Topology == v1alpha1.TopologySentinel {
		d.Topology = v1alpha1.TopologyReplication
	}
	last, err := t.lastPrimary()
	if err != nil {
		return err
	}
	d.Keep = last
	return t.bring(ctx, converge.Bootstrap, d, data, nil)
}

func startAll(pods []*localpod.Pod) error {
	var failed []error
	for _, p := range pods {
		failed = append(failed, p.Start())
	}
	return errors.Join(failed...)
}

// mostRestarts is how often a container may end before it has answered.
const mostRestarts = 2

// answering returns once every server has loaded its data.
func (t *Trial) answering(ctx context.Context, pods []*localpod.Pod) error {
	return together(pods, func(p *localpod.Pod) error {
		return await(ctx, func() error {
			err := p.Probe(ctx, script.ProbeStartup)
			if err != nil && p.Restarts() > mostRestarts {
				return &hopelessError{fmt.Errorf("%s ended %d times before it answered:\n%s", p.Name(), p.Restarts(), p.LogTail())}
			}
			return err
		})
	})
}

// together does the same to every pod at once and joins the errors.
func together(pods []*localpod.Pod, do func(*localpod.Pod) error) error {
	failed := make([]error, len(pods))
	var wg sync.WaitGroup
	for i, p := range pods {
		wg.Go(func() { failed[i] = do(p) })
	}
	wg.Wait()
	return errors.Join(failed...)
}
