// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/valkey-render/valkey-render/cmd/internal/cli"
	"github.com/valkey-render/valkey-render/cmd/valkey-render/internal/system"
	"github.com/valkey-render/valkey-render/render/apply"
)

const deleteLong = `Delete what apply made for clusters, which their inventories list: first the
ValkeyCluster, then the rest in reverse order. Claims, and with them the data,
stay, unless spec.storage.reclaimPolicy is Delete: then Kubernetes deletes them
with their StatefulSets. What no longer has the cluster's labels stays too.

A cluster with spec.deletionPolicy Guard, or a Durable one without a policy, is
refused: set Allow and apply it first. An interrupted delete goes on when it is
run again.

Exit codes: 0 done; 1 refused, or something failed for good; 2 wrong usage or
input, or no connection; 124 --timeout ran out.
` + inputHelp + connectionHelp

type deleteRunner struct {
	sys        system.System
	input      input
	connection connection
	output     cli.Choice
	dryRun     cli.Choice
	wait       bool
}

func newDelete(sys system.System, version string) *cobra.Command {
	r := &deleteRunner{sys: sys, connection: connection{version: version}, output: cli.NewChoice("text", "json"), dryRun: cli.NewChoice("none", "server")}
	cmd := &cobra.Command{
		Use:   "delete (NAME | -f FILE | -k DIR)...",
		Short: "Delete clusters from a Kubernetes cluster, but not their claims",
		Long:  deleteLong,
		Example: `  valkey-render delete cache -n shop --wait
  valkey-render delete -f cluster.yaml --dry-run=server`,
		RunE: func(cmd *cobra.Command, names []string) error {
			if r.input.given() == (len(names) > 0) {
				return &cli.UsageError{Command: cmd.CommandPath(), Err: errors.New("name clusters, or specs with -f or -k, and not both")}
			}
			return r.run(cmd.Context(), names)
		},
	}
	r.input.addTo(cmd)
	r.connection.AddTo(cmd)
	r.output.AddTo(cmd, "output", "o", "how to print what was done")
	r.dryRun.AddTo(cmd, "dry-run", "", "server: print what would be deleted")
	cmd.Flags().BoolVar(&r.wait, "wait", false, "wait until everything is gone, pods included")
	return cmd
}

func (r *deleteRunner) run(ctx context.Context, names []string) error {
	c, clusters, err := r.clusters(ctx, names)
	if err != nil {
		return err
	}
	n := &narrator{sys: r.sys, quiet: r.output.Value == "json", dryRun: r.dryRun.Value == "server"}
	applier := apply.New(c, apply.Options{OnChange: n.change, OnNote: n.note, OnWait: n.progress})
	var results []apply.Result
	var problems []error
	for _, cluster := range clusters {
		result, err := applier.Delete(ctx, cluster, apply.DeleteOptions{DryRun: n.dryRun})
		results = append(results, result)
		if n.dryRun {
			for _, change := range result.Changes {
				n.change(change)
			}
		}
		if err != nil {
			problems = append(problems, err)
		}
		if ctx.Err() != nil {
			break
		}
	}
	err = errors.Join(problems...)
	if err == nil && r.wait && !n.dryRun {
		err = applier.WaitGone(ctx, results)
	}
	err = n.outcome(err)
	if err == nil || slices.ContainsFunc(results, func(r apply.Result) bool { return len(r.Changes) > 0 }) {
		n.total(results)
	}
	return n.print(outcome{DryRun: n.dryRun, Clusters: results}, err)
}

// clusters are those that were named, or that the input is about.
func (r *deleteRunner) clusters(ctx context.Context, names []string) (client.Client, []apply.Cluster, error) {
	if len(names) == 0 {
		return openAndRender(ctx, r.sys, &r.connection, &r.input)
	}
	c, namespace, err := r.connection.open(r.sys)
	if err != nil {
		return nil, nil, err
	}
	if r.input.namespace != "" {
		namespace = r.input.namespace
	}
	var clusters []apply.Cluster
	for _, called := range names {
		clusters = append(clusters, apply.Cluster{Namespace: namespace, Name: called, Complete: true})
	}
	return c, clusters, nil
}
