// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/valkey-render/valkey-render/cmd/internal/cli"
	"github.com/valkey-render/valkey-render/cmd/valkey-render/internal/difference"
	"github.com/valkey-render/valkey-render/cmd/valkey-render/internal/system"
	"github.com/valkey-render/valkey-render/render/apply"
	"github.com/valkey-render/valkey-render/render/write"
)

const diffLong = `Print what apply would change in a Kubernetes cluster, as a unified diff that
leads from the live objects to what the server would make of the rendered ones.
Nothing is written.

Exit codes: 0 no difference; 1 differences, or the server refuses an object;
2 wrong usage or input, or no connection.
` + inputHelp + connectionHelp

type diffRunner struct {
	sys        system.System
	input      input
	connection connection
	live       bool
	adopt      bool
}

func newDiff(sys system.System, version string) *cobra.Command {
	r := &diffRunner{sys: sys, connection: connection{version: version}}
	cmd := &cobra.Command{
		Use:   "diff (-f FILE | -k DIR)... --live",
		Short: "Compare a rendering with the live objects of a Kubernetes cluster",
		Long:  diffLong,
		Example: `  valkey-render diff -f cluster.yaml --live
  valkey-render diff -k environments/prod --live --context prod`,
		Args: noOperands,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := r.input.require(cmd); err != nil {
				return err
			}
			if !r.live {
				return &cli.UsageError{Command: cmd.CommandPath(), Err: errors.New("say what to compare with: --live is the cluster; 'valkey-render check' compares with files")}
			}
			return r.run(cmd.Context())
		},
	}
	r.input.addTo(cmd)
	r.connection.AddTo(cmd)
	cmd.Flags().BoolVar(&r.live, "live", false, "compare with the objects of the cluster")
	cmd.Flags().BoolVar(&r.adopt, "adopt", false, "compare with objects that are not labelled as the cluster's too")
	return cmd
}

func (r *diffRunner) run(ctx context.Context) error {
	c, clusters, err := openAndRender(ctx, r.sys, &r.connection, &r.input)
	if err != nil {
		return err
	}
	n := &narrator{sys: r.sys}
	plan, err := apply.New(c, apply.Options{Adopt: r.adopt, OnNote: n.note}).Plan(ctx, clusters)
	if err != nil {
		return n.outcome(err)
	}
	var text bytes.Buffer
	differs := false
	for _, result := range plan.Results() {
		for _, c := range result.Changes {
			switch c.Action {
			case apply.Unchanged:
				continue
			case apply.Kept, apply.Held:
				fmt.Fprintf(r.sys.Err, "%s %s: %s\n", c.ID, c.Action, c.Message)
				continue
			}
			differs = true
			if c.Message != "" {
				fmt.Fprintf(r.sys.Err, "%s: %s\n", c.ID, c.Message)
			}
			before, errBefore := show(c.Live)
			after, errAfter := show(c.Next)
			if err := errors.Join(errBefore, errAfter); err != nil {
				return err
			}
			text.Write(difference.Unified(c.String()+".yaml", before, after))
		}
	}
	if err := emit(r.sys.Out, text.Bytes()); err != nil {
		return err
	}
	if differs {
		return errDifferences
	}
	return nil
}

// show is an object as a file, without what the server keeps for itself; nil when
// there is none.
func show(object *unstructured.Unstructured) ([]byte, error) {
	if object == nil {
		return nil, nil
	}
	o := object.DeepCopy()
	unstructured.RemoveNestedField(o.Object, "status")
	for _, key := range []string{"managedFields", "uid", "resourceVersion", "generation", "creationTimestamp", "selfLink", "deletionTimestamp", "deletionGracePeriodSeconds"} {
		unstructured.RemoveNestedField(o.Object, "metadata", key)
	}
	return write.YAML([]*unstructured.Unstructured{o})
}
