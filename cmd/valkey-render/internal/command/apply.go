// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/valkey-render/valkey-render/cmd/internal/cli"
	"github.com/valkey-render/valkey-render/cmd/valkey-render/internal/system"
	"github.com/valkey-render/valkey-render/render/apply"
)

const applyLong = `Render specs and bring the objects into a Kubernetes cluster:

  1. dry-run every object on the server; if one is refused, nothing is written
  2. record in ConfigMap <cluster>-inventory what is about to exist
  3. apply server-side what differs, stage by stage: the ValkeyCluster, config,
     Services, claims, StatefulSets, budgets, policies, monitoring
  4. delete what is in the inventory and no longer rendered, in reverse order
  5. record what is there now
  6. with --wait, wait until all of it is ready

It can be interrupted anywhere and run again. A second run with the same specs
writes nothing. Claims are never deleted and never shrink; one that no pod has
used yet cannot grow, and does so with --wait once one has. The StatefulSet of a
shard that is no longer rendered is held until the shard is drained or
spec.deletionPolicy is Allow; with --wait, it is waited for. With jobs: Rendered
a Job drains it between steps 2 and 3, and is waited for; if that fails, nothing
else is changed. A change that the
server does not allow (immutable fields) is an error that names the fields,
never a delete.

Fields that kubectl and Helm wrote before are taken over. An object that exists
and is not labelled as the cluster's is an error, unless --adopt.

Exit codes: 0 done; 1 the server refused an object, or something failed for
good; 2 wrong usage or input, or no connection; 124 --timeout ran out.
` + inputHelp + connectionHelp

type applyRunner struct {
	sys        system.System
	input      input
	connection connection
	output     cli.Choice
	dryRun     cli.Choice
	adopt      bool
	wait       bool
}

func newApply(sys system.System, version string) *cobra.Command {
	r := &applyRunner{sys: sys, connection: connection{version: version}, output: cli.NewChoice("text", "json"), dryRun: cli.NewChoice("none", "server")}
	cmd := &cobra.Command{
		Use:   "apply (-f FILE | -k DIR)...",
		Short: "Render specs and apply the objects to a Kubernetes cluster",
		Long:  applyLong,
		Example: `  valkey-render apply -f cluster.yaml --wait --timeout 10m
  valkey-render apply -k environments/prod --dry-run=server
  valkey-render apply -f clusters/ -n shop --context prod --output json`,
		Args: noOperands,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := r.input.require(cmd); err != nil {
				return err
			}
			return r.run(cmd.Context())
		},
	}
	r.input.addTo(cmd)
	r.connection.AddTo(cmd)
	r.output.AddTo(cmd, "output", "o", "how to print what was done")
	r.dryRun.AddTo(cmd, "dry-run", "", "server: print what would be done")
	cmd.Flags().BoolVar(&r.adopt, "adopt", false, "take over objects that exist and are not labelled as the cluster's")
	cmd.Flags().BoolVar(&r.wait, "wait", false, "wait until everything is ready")
	return cmd
}

func (r *applyRunner) run(ctx context.Context) error {
	c, clusters, err := openAndRender(ctx, r.sys, &r.connection, &r.input)
	if err != nil {
		return err
	}
	n := &narrator{sys: r.sys, quiet: r.output.Value == "json", dryRun: r.dryRun.Value == "server"}
	applier := apply.New(c, apply.Options{Adopt: r.adopt, OnChange: n.change, OnNote: n.note, OnWait: n.progress})
	results, statuses, err := r.carryOut(ctx, applier, n, clusters)
	err = n.outcome(err)
	if len(results) > 0 {
		n.total(results)
	}
	return n.print(outcome{DryRun: n.dryRun, Clusters: results, Statuses: statuses}, err)
}

func (r *applyRunner) carryOut(ctx context.Context, applier *apply.Applier, n *narrator, clusters []apply.Cluster) ([]apply.Result, []apply.Status, error) {
	plan, err := applier.Plan(ctx, clusters)
	switch {
	case n.dryRun:
		for _, result := range plan.Results() {
			for _, c := range result.Changes {
				n.change(c)
			}
		}
		return plan.Results(), nil, err
	case err != nil:
		// What was planned beside it did not happen.
		return plan.Refused(), nil, err
	}
	applier.CheckReconciler(ctx, clusters)
	results, err := plan.Run(ctx)
	if err != nil || !r.wait {
		return results, nil, err
	}
	statuses, err := plan.Wait(ctx)
	return plan.Done(), statuses, err
}
