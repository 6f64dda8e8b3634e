// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/valkey-render/valkey-render/test/localcluster/internal/kubeapi"
	"github.com/valkey-render/valkey-render/test/localcluster/internal/network"
	"github.com/valkey-render/valkey-render/test/localcluster/internal/pki"
)

// Wanted is the shape asked for; Port 0 takes any free port.
type Wanted struct {
	Nodes   int // 0: only an API server
	Port    int
	Timeout time.Duration // from the first process to Ready
}

// Up starts the cluster, or finds it up in the wanted shape.
func (c *Cluster) Up(ctx context.Context, w Wanted) (err error) {
	if err := c.possible(w); err != nil {
		return err
	}
	unlock, err := c.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	defer func() {
		// A cluster that is not there has no lock either.
		if _, stat := os.Stat(c.State()); err != nil && errors.Is(stat, fs.ErrNotExist) {
			err = errors.Join(err, c.removeLock())
		}
	}()
	if up, err := c.already(w); up || err != nil {
		return err
	}
	p, err := c.get(ctx, w)
	if err != nil {
		return err
	}
	// What a start that was killed has left.
	if err := c.clear(ctx); err != nil {
		return err
	}
	listener, port, err := c.listen(w.Port)
	if err != nil {
		return err
	}
	defer listener.Close()
	start := time.Now()
	ctx, cancel := context.WithTimeout(ctx, w.Timeout)
	defer cancel()
	if err := c.make(ctx, w, p, listener, port); err != nil {
		logs := c.tail(control)
		for n := 1; n <= w.Nodes; n++ {
			logs += c.tail(nodeName(n))
		}
		return errors.Join(fmt.Errorf("cluster %s: %w%s", c.Name, err, logs), c.clear(context.WithoutCancel(ctx)))
	}
	if err := os.WriteFile(c.path("ready"), nil, 0o644); err != nil {
		return fmt.Errorf("state: %w", err)
	}
	c.Say("cluster %s is ready after %.1f s: KUBECONFIG=%s", c.Name, time.Since(start).Seconds(), c.Kubeconfig())
	return nil
}

// possible says all that stands against the wanted shape.
func (c *Cluster) possible(w Wanted) error {
	var errs []error
	if w.Nodes < 0 || w.Nodes > MaxNodes {
		errs = append(errs, fmt.Errorf("nodes %d: want 1 to %d", w.Nodes, MaxNodes))
	}
	if w.Port < 0 || w.Port > 65535 {
		errs = append(errs, fmt.Errorf("port %d: want 1 to 65535, or 0 for any that is free", w.Port))
	}
	if w.Nodes > 0 && os.Geteuid() != 0 {
		errs = append(errs, errors.New("nodes: network namespaces and containers need root; run this as root, or with --apiserver-only"))
	}
	return errors.Join(errs...)
}

// already tells whether the cluster is up as wanted.
func (c *Cluster) already(w Wanted) (bool, error) {
	s, err := c.shape()
	if errors.Is(err, ErrDown) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	running, err := c.pid(control)
	if err != nil || running == 0 {
		return false, err
	}
	// Not there where the command that started the cluster was killed on the way.
	if _, err := os.Stat(c.path("ready")); err != nil {
		return false, nil //nolint:nilerr // it is started anew
	}
	if s.Nodes != w.Nodes || w.Port != 0 && w.Port != s.Port {
		return false, fmt.Errorf("cluster %s: up with %d nodes at port %d; take it down first, or give another --name", c.Name, s.Nodes, s.Port)
	}
	for n := 1; n <= s.Nodes; n++ {
		if host, err := c.pid(nodeName(n)); err != nil || host == 0 {
			return false, errors.Join(err, fmt.Errorf("cluster %s: up, but %s is stopped; go on with it by heal %d, or take the cluster down first", c.Name, nodeName(n), n))
		}
	}
	c.Say("cluster %s is up: KUBECONFIG=%s", c.Name, c.Kubeconfig())
	return true, nil
}

// listen opens the port of the API server on this machine.
func (c *Cluster) listen(port int) (*net.TCPListener, int, error) {
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port})
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, 0, fmt.Errorf("port 127.0.0.1:%d: taken by another program; give another --port, or 0", port)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("port 127.0.0.1:%d: %w", port, err)
	}
	return l, l.Addr().(*net.TCPAddr).Port, nil
}

// make makes the state directory, starts the hosts and waits until they are ready.
func (c *Cluster) make(ctx context.Context, w Wanted, p got, listener *net.TCPListener, port int) error {
	for _, dir := range []string{"pki", "etcd", control + "/var/log"} {
		if err := os.MkdirAll(c.path(dir), 0o755); err != nil {
			return fmt.Errorf("state: %w", err)
		}
	}
	if err := os.Chmod(c.State(), 0o755); err != nil {
		return fmt.Errorf("state: %w", err)
	}
	data, err := json.Marshal(Shape{Nodes: w.Nodes, Port: port, Programs: p.kubernetes})
	if err != nil {
		return fmt.Errorf("state: %w", err)
	}
	if err := os.WriteFile(c.path("shape.json"), data, 0o644); err != nil {
		return fmt.Errorf("state: %w", err)
	}
	if err := c.certify(w.Nodes, port); err != nil {
		return err
	}
	if err := c.keepProgram(); err != nil {
		return err
	}
	if w.Nodes == 0 {
		return c.makeAlone(ctx, p, listener, port)
	}
	return c.makeWhole(ctx, w.Nodes, p, listener, port)
}

// certify makes the certificates and the kubeconfig for this machine.
func (c *Cluster) certify(nodes, port int) error {
	authority, err := pki.New(c.path("pki"))
	if err != nil {
		return err
	}
	subjects := map[string]pki.Subject{
		"apiserver": {
			User:      "kube-apiserver",
			Names:     []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"},
			Addresses: []string{"127.0.0.1", network.Control, "10.96.0.1"},
		},
		"admin": {User: "admin", Group: "system:masters"},
	}
	for n := 1; n <= nodes; n++ {
		subjects[nodeName(n)] = pki.Subject{
			User: "system:node:" + nodeName(n), Group: "system:nodes",
			Names: []string{nodeName(n)}, Addresses: network.Node(n),
		}
	}
	for name, subject := range subjects {
		if err := authority.Issue(name, subject); err != nil {
			return err
		}
	}
	config, err := pki.Kubeconfig(c.path("pki"), "admin", "localcluster-"+c.Name, c.server(port))
	if err != nil {
		return err
	}
	if err := os.WriteFile(c.Kubeconfig(), config, 0o600); err != nil {
		return fmt.Errorf("kubeconfig: %w", err)
	}
	return nil
}

func (c *Cluster) server(port int) string { return "https://127.0.0.1:" + strconv.Itoa(port) }

func (c *Cluster) api(port int) (*kubeapi.Client, error) {
	return kubeapi.New(c.server(port), c.path("pki"))
}
