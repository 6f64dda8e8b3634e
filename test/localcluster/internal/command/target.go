// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/valkey-render/valkey-render/test/localcluster/internal/cluster"
)

// target is the cluster that a command is about: our own, or that of KUBECONFIG.
type target struct {
	own     *cluster.Cluster
	foreign string // file of KUBECONFIG, where it names another cluster
	say     func(format string, args ...any)
}

func (t target) up(ctx context.Context, w cluster.Wanted) error {
	if t.foreign != "" {
		t.say("KUBECONFIG=%s is set: using that cluster, starting none", t.foreign)
		return nil
	}
	return t.own.Up(ctx, w)
}

func (t target) down(ctx context.Context) error {
	if t.foreign != "" {
		t.say("KUBECONFIG=%s is set: that cluster is not ours to take down", t.foreign)
		return nil
	}
	return t.own.Down(ctx)
}

func (t target) status(ctx context.Context, w io.Writer) error {
	if t.foreign != "" {
		fmt.Fprintf(w, "kubeconfig  %s (of KUBECONFIG; not ours)\n", t.foreign)
		return nil
	}
	return t.own.Status(ctx, w)
}

func (t target) kubeconfig() (string, error) {
	if t.foreign != "" {
		return t.foreign, nil
	}
	file := t.own.Kubeconfig()
	if _, err := os.Stat(file); err != nil {
		return "", t.own.NotUp()
	}
	return file, nil
}

func (t target) loadImage(ctx context.Context, archive string) error {
	if t.foreign == "" {
		return t.own.LoadImage(ctx, archive)
	}
	name, err := kindCluster(ctx)
	if err != nil {
		return err
	}
	out, err := exec.CommandContext(ctx, "kind", "load", "image-archive", archive, "--name", name).CombinedOutput()
	if err != nil {
		return fmt.Errorf("image %s: not loaded into kind cluster %s: %w: %s", archive, name, err, strings.TrimSpace(string(out)))
	}
	return nil
}

// kindCluster is the name of the kind cluster that is KUBECONFIG's current context.
func kindCluster(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "kubectl", "config", "current-context").Output()
	if err != nil {
		return "", fmt.Errorf("KUBECONFIG: its current context is not to be had: %w", err)
	}
	name, ok := strings.CutPrefix(strings.TrimSpace(string(out)), "kind-")
	if !ok {
		return "", fmt.Errorf("KUBECONFIG: images are loaded into kind clusters only, not into %q; push the image where the cluster pulls from, and name it with IMAGE=", strings.TrimSpace(string(out)))
	}
	return name, nil
}

func (t target) run(ctx context.Context, n int, command []string) error {
	if t.foreign != "" {
		return fmt.Errorf("KUBECONFIG: run works on a cluster of localcluster only, and %s names another", t.foreign)
	}
	return t.own.Run(ctx, n, command, os.Environ())
}

func (t target) stopNode(ctx context.Context, n int) error  { return t.own.StopNode(ctx, n) }
func (t target) partition(ctx context.Context, n int) error { return t.own.Partition(ctx, n) }
func (t target) heal(ctx context.Context, n int) error      { return t.own.Heal(ctx, n) }

// onNode is a command about one node.
func onNode(open opener, use, short string, do func(target, context.Context, int) error) *cobra.Command {
	return &cobra.Command{
		Use: use + " NODE", Short: short, Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			n, err := strconv.Atoi(strings.TrimPrefix(args[0], "node"))
			if err != nil {
				return fmt.Errorf("node %q: want its number, or its name, node1", args[0])
			}
			t, err := open(c)
			if err != nil {
				return err
			}
			if t.foreign != "" {
				return fmt.Errorf("KUBECONFIG: %s works on a cluster of localcluster only, and %s names another", use, t.foreign)
			}
			return do(t, c.Context(), n)
		},
	}
}
