// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/valkey-render/valkey-render/cmd/internal/cli"
	"github.com/valkey-render/valkey-render/cmd/valkey-render/internal/system"
	"github.com/valkey-render/valkey-render/render/apply"
)

const waitLong = `Wait until the objects in a Kubernetes cluster are what is rendered, whoever
applies them, and ready: StatefulSets with every pod ready and of the newest
template, claims bound and grown, Jobs completed, the ValkeyCluster Ready. The
ValkeyCluster is left out where no reconciler runs that would look after it.

It ends as soon as something has failed for good, and says why pods do not
start.

Exit codes: 0 ready; 1 something failed for good; 2 wrong usage or input, or no
connection; 124 --timeout ran out.
` + inputHelp + connectionHelp

type waitRunner struct {
	sys        system.System
	input      input
	connection connection
	output     cli.Choice
}

func newWait(sys system.System, version string) *cobra.Command {
	r := &waitRunner{sys: sys, connection: connection{version: version}, output: cli.NewChoice("text", "json")}
	cmd := &cobra.Command{
		Use:   "wait (-f FILE | -k DIR)...",
		Short: "Wait until a rendering is live and ready in a Kubernetes cluster",
		Long:  waitLong,
		Example: `  valkey-render wait -f cluster.yaml --timeout 10m
  valkey-render wait -k environments/prod --output json`,
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
	r.output.AddTo(cmd, "output", "o", "how to print the states")
	return cmd
}

func (r *waitRunner) run(ctx context.Context) error {
	c, clusters, err := openAndRender(ctx, r.sys, &r.connection, &r.input)
	if err != nil {
		return err
	}
	n := &narrator{sys: r.sys, quiet: r.output.Value == "json"}
	statuses, err := apply.New(c, apply.Options{OnNote: n.note, OnWait: n.progress}).Wait(ctx, clusters)
	err = n.outcome(err)
	if err == nil {
		fmt.Fprintf(r.sys.Err, "%s ready\n", count(len(statuses), "object"))
	}
	return n.print(outcome{Statuses: statuses}, err)
}
