// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"k8s.io/utils/clock"

	"github.com/valkey-render/valkey-render/topologyjob/client"
	"github.com/valkey-render/valkey-render/topologyjob/converge"
	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/outcome"
	"github.com/valkey-render/valkey-render/topologyjob/plan"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// topology makes the work of a kind that converges a topology.
func topology(kind converge.Kind) func(context.Context, *runner) (done, error) {
	return func(ctx context.Context, r *runner) (done, error) {
		aim, err := r.target.resolve(r.sys.Files, &r.specs, r.sys.Getenv(podNamespace))
		if err != nil {
			return done{}, err
		}
		if err := needsReshard(kind, aim.desired); err != nil {
			return done{}, &verdict{outcome.BadInput, "InputInvalid", err}
		}
		switch {
		case !kind.For(aim.desired.Topology):
			return done{}, &verdict{outcome.BadInput, "InputInvalid", fmt.Errorf("topology %s: not done by kind %s", aim.desired.Topology, kind)}
		case kind == converge.Handover && len(aim.desired.Vacate) == 0 && aim.desired.Primary == "":
			return done{}, &verdict{outcome.BadInput, "InputInvalid", errors.New("--vacate: name the pods that primaries leave, or with --primary the one that is to be it")}
		case kind == converge.Takeover:
			aim.desired.Takeover = true
		}
		asker := aim.asker(r.sys.Clock.Now)
		defer asker.Pool.Close()
		out := converge.Run(ctx, converge.Options{
			Kind: kind, Desired: aim.desired, Pods: aim.pods, Asker: asker, Find: client.Find(net.DefaultResolver), Clock: sleeper{r.sys.Clock}, Wait: r.deadline > 0, DryRun: r.dryRun,
			Login: aim.login, OnProgress: r.progress(),
			Sentinels: aim.sentinels, SentinelLogin: aim.sentinelLogin, SentinelSettings: aim.sentinelSettings,
			OnPlan: func(p plan.Plan) { fmt.Fprintln(r.sys.Err, p) },
			OnStep: func(s plan.Step, err error) {
				if err != nil {
					fmt.Fprintf(r.sys.Err, "%s: %v; looking again\n", s.Kind(), err)
				} else {
					fmt.Fprintf(r.sys.Err, "done: %s\n", s)
				}
			},
		})
		return report(out)
	}
}

// asker asks pods over connections that are kept.
func (a aim) asker(now func() time.Time) survey.Asker {
	return survey.Asker{
		Pool: node.NewPool(a.dialer), Resolve: client.NewNames(net.DefaultResolver, now).Resolve,
		Topology: a.desired.Topology, Sentinels: a.sentinels,
	}
}

// report turns the outcome of a convergence into that of a run.
func report(out converge.Outcome) (done, error) {
	d := done{message: out.Next, counts: map[string]int64{
		"pods": int64(out.Pods), "answered": int64(out.Answered), "slotsOwned": int64(out.Owned), "keys": out.Keys, "passes": int64(out.Passes),
	}}
	for kind, n := range out.Steps {
		d.counts["step."+kind] = int64(n)
	}
	if out.Drained != "" {
		d.message += "; drained shards: " + out.Drained
	}
	for name, n := range map[string]int64{"movedSlots": int64(out.MovedSlots), "movedKeys": out.MovedKeys, "movedBytes": out.MovedBytes} {
		if n > 0 {
			d.counts[name] = n
		}
	}
	for name, n := range map[string]int{"raced": out.Raced, "unproven": out.Unproven, "failed": out.Failed} {
		if n > 0 {
			d.counts[name] = int64(n)
		}
	}
	message := out.Message
	if message == "" {
		message = out.Next
	}
	if out.LastError != "" && out.Result != converge.Converged {
		message += "; last error: " + out.LastError
	}
	switch out.Result {
	case converge.Converged, converge.Planned:
		return d, nil
	case converge.Stuck:
		return d, &verdict{outcome.Blocked, string(out.Reason), fmt.Errorf("%s", message)}
	case converge.Unfinished:
		return d, &verdict{outcome.Blocked, "", fmt.Errorf("not done, and without --deadline nothing is waited for: %s", message)}
	case converge.TimedOut:
		return d, &verdict{outcome.Deadline, out.FailedStep, fmt.Errorf("not done in time: %s", message)}
	}
	return d, &verdict{outcome.Interrupted, "", fmt.Errorf("told to stop: %s", message)}
}

// sleeper is the system's clock with a sleep that a context ends.
type sleeper struct{ clock clock.Clock }

func (s sleeper) Now() time.Time { return s.clock.Now() }

func (s sleeper) Sleep(ctx context.Context, d time.Duration) error {
	timer := s.clock.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
