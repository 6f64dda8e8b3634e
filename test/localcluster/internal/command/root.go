// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/valkey-render/valkey-render/test/localcluster/internal/cluster"
	"github.com/valkey-render/valkey-render/test/localcluster/internal/host"
	"github.com/valkey-render/valkey-render/test/localcluster/internal/parts"
	"github.com/valkey-render/valkey-render/test/localcluster/internal/store"
)

const long = `A real Kubernetes on this machine, for tests and the demo: etcd, the control plane, and one
to three nodes with kubelet, kube-proxy, containerd and CoreDNS, sealed in network
namespaces of their own; or, without root, an API server alone. Nothing is installed: all
of it is built, or unpacked from Debian packages, in the cache directory.

With KUBECONFIG set to another cluster that one is used, and nothing is started.`

// options are the flags that all commands share.
type options struct {
	name   string
	source string
}

// Root is the command localcluster. getenv and directory are those of the process.
func Root(getenv func(string) string, directory string) *cobra.Command {
	o := &options{}
	root := &cobra.Command{
		Use: "localcluster", Short: "A real Kubernetes on this machine", Long: long,
		SilenceUsage: true, SilenceErrors: true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.PersistentFlags().StringVar(&o.name, "name", cluster.DefaultName, "name of the cluster; several can be up at once")
	root.PersistentFlags().StringVar(&o.source, "source", "", "directory of the source tree (default: where this runs)")
	open := func(c *cobra.Command) (target, error) {
		return o.open(c, getenv, directory)
	}
	root.AddCommand(up(open), down(open), status(open), kubeconfig(open), fetch(open), images(open), loadImage(open),
		onNode(open, "stop-node", "End a node at once, as a power cut does", target.stopNode),
		onNode(open, "partition", "Cut a node off from the control plane and from the other nodes", target.partition),
		onNode(open, "heal", "Start a stopped node, or connect a partitioned one, and wait until it is Ready", target.heal),
		run(open), hostCommand())
	return root
}

// open decides which cluster a command is about.
func (o *options) open(c *cobra.Command, getenv func(string) string, directory string) (target, error) {
	say := func(format string, args ...any) {
		fmt.Fprintf(c.ErrOrStderr(), format+"\n", args...)
	}
	cache, err := store.Dir(getenv)
	if err != nil {
		return target{}, err
	}
	source := o.source
	if source == "" {
		source = directory
	}
	if source, err = parts.FindSource(source); err != nil {
		return target{}, err
	}
	own, err := cluster.New(o.name, parts.Parts{Source: source, Cache: cache, Say: say}, say)
	if err != nil {
		return target{}, err
	}
	t := target{own: own, say: say}
	if file := getenv("KUBECONFIG"); file != "" && !same(file, own.Kubeconfig()) {
		if !slices.ContainsFunc(filepath.SplitList(file), exists) {
			return target{}, fmt.Errorf("KUBECONFIG=%s: there is no such file", file)
		}
		t.foreign = file
	}
	return t, nil
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// same tells whether two paths are one file; the second need not exist.
func same(a, b string) bool {
	if a == b {
		return true
	}
	ai, err := os.Stat(a)
	if err != nil {
		return false
	}
	bi, err := os.Stat(b)
	return err == nil && os.SameFile(ai, bi)
}

type opener func(*cobra.Command) (target, error)

func up(open opener) *cobra.Command {
	w := cluster.Wanted{}
	apiserverOnly := false
	c := &cobra.Command{
		Use: "up", Short: "Start the cluster and wait until it is Ready", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			t, err := open(c)
			if err != nil {
				return err
			}
			if apiserverOnly {
				w.Nodes = 0
			} else if w.Nodes == 0 {
				return fmt.Errorf("nodes 0: want 1 to %d, or --apiserver-only", cluster.MaxNodes)
			}
			return t.up(c.Context(), w)
		},
	}
	c.Flags().IntVar(&w.Nodes, "nodes", 1, fmt.Sprintf("nodes, 1 to %d, each in a zone of its own", cluster.MaxNodes))
	c.Flags().BoolVar(&apiserverOnly, "apiserver-only", false, "etcd, API server and controllers only; needs no root")
	c.Flags().IntVar(&w.Port, "port", 0, "port of the API server on 127.0.0.1 (default: any that is free)")
	c.Flags().DurationVar(&w.Timeout, "timeout", 3*time.Minute, "how long it may take from the first process to Ready")
	c.MarkFlagsMutuallyExclusive("nodes", "apiserver-only")
	return c
}

func down(open opener) *cobra.Command {
	return &cobra.Command{
		Use: "down", Short: "End the cluster and remove all there is of it, but for the cache", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			t, err := open(c)
			if err != nil {
				return err
			}
			return t.down(c.Context())
		},
	}
}

func status(open opener) *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Show how the cluster is; fails when it is not as it should be", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			t, err := open(c)
			if err != nil {
				return err
			}
			return t.status(c.Context(), c.OutOrStdout())
		},
	}
}

func kubeconfig(open opener) *cobra.Command {
	return &cobra.Command{
		Use: "kubeconfig", Short: "Print the file that names the cluster to clients", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			t, err := open(c)
			if err != nil {
				return err
			}
			file, err := t.kubeconfig()
			if err == nil {
				fmt.Fprintln(c.OutOrStdout(), file)
			}
			return err
		},
	}
}

func fetch(open opener) *cobra.Command {
	apiserverOnly := false
	c := &cobra.Command{
		Use: "fetch", Short: "Build and download into the cache what a cluster is made of, and start none", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			t, err := open(c)
			if err != nil {
				return err
			}
			nodes := 1
			if apiserverOnly {
				nodes = 0
			}
			return t.own.Fetch(c.Context(), nodes)
		},
	}
	c.Flags().BoolVar(&apiserverOnly, "apiserver-only", false, "what an API server without nodes is made of")
	return c
}

func images(open opener) *cobra.Command {
	return &cobra.Command{
		Use: "images", Short: "Print the directory of the images that every node has, as docker-archive files", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			t, err := open(c)
			if err != nil {
				return err
			}
			dir, err := t.own.Parts.Images(c.Context())
			if err == nil {
				fmt.Fprintln(c.OutOrStdout(), dir)
			}
			return err
		},
	}
}

func loadImage(open opener) *cobra.Command {
	return &cobra.Command{
		Use: "load-image ARCHIVE...", Short: "Load images, as docker-archive or OCI tar files, into every node", Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			t, err := open(c)
			if err != nil {
				return err
			}
			for _, archive := range args {
				if err := t.loadImage(c.Context(), archive); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func run(open opener) *cobra.Command {
	node := 0
	c := &cobra.Command{
		Use: "run -- PROGRAM [ARGUMENT...]", Short: "Run a program of this machine in the network of a node, with its Services and names",
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			t, err := open(c)
			if err != nil {
				return err
			}
			return t.run(c.Context(), node, args)
		},
	}
	c.Flags().IntVar(&node, "node", 1, "number of the node")
	return c
}

// hostCommand is what a host is started as; see package host.
func hostCommand() *cobra.Command {
	return &cobra.Command{
		Use: "host SPEC", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			spec, err := host.Load(args[0])
			if err != nil {
				return err
			}
			return host.Run(spec)
		},
	}
}
