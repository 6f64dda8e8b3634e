// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/valkey-render/valkey-render/test/localcluster/internal/host"
	"github.com/valkey-render/valkey-render/test/localcluster/internal/kubeapi"
	"github.com/valkey-render/valkey-render/test/localcluster/internal/network"
	"github.com/valkey-render/valkey-render/test/localcluster/internal/pki"
)

// makeWhole starts a control plane and its nodes.
func (c *Cluster) makeWhole(ctx context.Context, nodes int, p got, listener *net.TCPListener, port int) error {
	pid, err := c.startControl(p, listener, nodes)
	if err != nil {
		return err
	}
	started, stop := context.WithCancel(ctx)
	defer stop()
	work, started := errgroup.WithContext(started)
	for n := 1; n <= nodes; n++ {
		if err := c.prepareNode(n, p); err != nil {
			return err
		}
		if err := c.startNode(pid, n, nodes); err != nil {
			return err
		}
		work.Go(func() error { return c.loadAll(started, n, p) })
	}
	work.Go(func() error {
		if err := c.apiReady(started, port); err != nil {
			return err
		}
		api, err := c.api(port)
		if err != nil {
			return err
		}
		if err := bootstrap(started, api); err != nil {
			return err
		}
		return kubeapi.Until(started, func(ctx context.Context) error { return nodesReady(ctx, api, nodes) })
	})
	return work.Wait()
}

// startControl starts the control host and its network.
func (c *Cluster) startControl(p got, listener *net.TCPListener, nodes int) (int, error) {
	pl := plane{
		etcd: p.etcd, bin: "/opt/kubernetes", pki: "/etc/kubernetes", kubeconfig: "/etc/kubernetes/admin.kubeconfig",
		data: "/etcd", client: 2379, peer: 2380, address: network.Control, port: 6443,
	}
	config, err := pki.Kubeconfig(c.path("pki"), "admin", c.Name, pl.server())
	if err != nil {
		return 0, err
	}
	if err := os.WriteFile(c.path("pki", "admin.kubeconfig"), config, 0o600); err != nil {
		return 0, fmt.Errorf("kubeconfig: %w", err)
	}
	root, err := c.root(control, p)
	if err != nil {
		return 0, err
	}
	maps.Copy(root.Binds, map[string]string{"/etc/kubernetes": c.path("pki"), "/etcd": c.path("etcd")})
	root.Files["etc/coredns/Corefile"] = corefile(pl.kubeconfig)
	root.Files[auditPolicy] = audited()
	file, err := listener.File()
	if err != nil {
		return 0, fmt.Errorf("port: %w", err)
	}
	defer file.Close()
	started, err := c.start(pl.whole(root), file)
	if err != nil {
		return 0, err
	}
	if err := network.SetUpControl(started.PID, nodes); err != nil {
		started.GiveUp()
		return 0, err
	}
	return started.PID, started.Go()
}

// root is the file system of a host, without what only its kind has.
func (c *Cluster) root(name string, p got) (host.Root, error) {
	for _, dir := range []string{c.path(name, "root"), c.path(name, "var", "log"), c.path("volumes")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return host.Root{}, fmt.Errorf("state: %w", err)
		}
	}
	return host.Root{
		Mountpoint: c.path(name, "root"), System: p.system, Var: c.path(name, "var"),
		Binds: map[string]string{"/opt/kubernetes": p.kubernetes, "/opt/addons": p.addons, "/volumes": c.path("volumes")},
		Files: map[string]string{
			"etc/passwd":        "root:x:0:0:root:/:/bin/sh\nnobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n",
			"etc/group":         "root:x:0:\nnogroup:x:65534:\n",
			"etc/hosts":         "127.0.0.1 localhost " + name + "\n",
			"etc/resolv.conf":   "nameserver " + network.Control + "\n",
			"etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
			// The kubelet's and cadvisor's idea of the machine's identity.
			"etc/machine-id": fmt.Sprintf("%032x\n", name),
		},
	}, nil
}

// prepareNode writes what a node is started from, now and after each stop.
func (c *Cluster) prepareNode(n int, p got) error {
	name := nodeName(n)
	root, err := c.root(name, p)
	if err != nil {
		return err
	}
	keys := c.path(name, "pki")
	if err := os.MkdirAll(keys, 0o700); err != nil {
		return fmt.Errorf("state: %w", err)
	}
	for to, from := range map[string]string{
		"ca.crt": "ca.crt", "kubelet.crt": name + ".crt", "kubelet.key": name + ".key", "admin.kubeconfig": "admin.kubeconfig",
	} {
		data, err := os.ReadFile(c.path("pki", from))
		if err != nil {
			return fmt.Errorf("state: %w", err)
		}
		if err := os.WriteFile(c.path(name, "pki", to), data, 0o600); err != nil {
			return fmt.Errorf("state: %w", err)
		}
	}
	config, err := pki.Kubeconfig(c.path("pki"), name, c.Name, fmt.Sprintf("https://%s:6443", network.Control))
	if err != nil {
		return err
	}
	if err := os.WriteFile(c.path(name, "pki", "kubelet.kubeconfig"), config, 0o600); err != nil {
		return fmt.Errorf("kubeconfig: %w", err)
	}
	root.Binds["/etc/kubernetes"] = keys
	return c.node(n, root).Save(c.path(name, "spec.json"))
}

// startNode starts a prepared node and plugs it in.
func (c *Cluster) startNode(controlPID, n, nodes int) error {
	if err := groups().Make(c.group() + "/" + nodeName(n)); err != nil {
		return err
	}
	spec, err := host.Load(c.path(nodeName(n), "spec.json"))
	if err != nil {
		return err
	}
	started, err := c.start(spec, nil)
	if err != nil {
		return err
	}
	if err := network.SetUpNode(controlPID, started.PID, n, nodes); err != nil {
		started.GiveUp()
		return err
	}
	return started.Go()
}

// nodesReady is an error that names the nodes that are not Ready.
func nodesReady(ctx context.Context, api *kubeapi.Client, want int) error {
	nodes, err := api.Nodes(ctx)
	if err != nil {
		return err
	}
	if len(nodes) < want {
		return fmt.Errorf("nodes: %d of %d have registered", len(nodes), want)
	}
	var errs []error
	for _, n := range nodes {
		if ready, why := n.Ready(); !ready {
			errs = append(errs, fmt.Errorf("%s: not ready: %s", n.Metadata.Name, why))
		}
	}
	return errors.Join(errs...)
}

// nodeTimeout is how long a node may take from its start to Ready.
const nodeTimeout = 2 * time.Minute
