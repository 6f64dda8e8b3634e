// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"errors"
	"fmt"
	"net"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// Addresses of every cluster. Clusters do not meet, so that all have the same.
const (
	Control  = "192.168.250.1" // etcd, the API server, DNS
	Services = "10.96.0.0/16"
	Pods     = "10.244.0.0/16"
	bridge   = "hosts"
)

// Node is the address of node number n, counted from 1.
func Node(n int) string { return fmt.Sprintf("192.168.250.%d", 10+n) }

// NodePods is the range of the pods on node number n.
func NodePods(n int) string { return fmt.Sprintf("10.244.%d.0/24", n) }

// cable is the name of the end, in the control host's namespace, of a node's cable.
func cable(n int) string { return fmt.Sprintf("node%d", n) }

// at opens the network namespace of a process.
func at(pid int) (*netlink.Handle, error) {
	ns, err := netns.GetFromPid(pid)
	if err != nil {
		return nil, fmt.Errorf("network namespace of process %d: %w", pid, err)
	}
	defer ns.Close()
	h, err := netlink.NewHandleAt(ns, unix.NETLINK_ROUTE)
	if err != nil {
		return nil, fmt.Errorf("network namespace of process %d: %w", pid, err)
	}
	return h, nil
}

// SetUpControl makes the bridge in the namespace of the control host, and its routes to the
// pods of that many nodes.
func SetUpControl(pid, nodes int) error {
	h, err := at(pid)
	if err != nil {
		return err
	}
	defer h.Close()
	if err := up(h, "lo"); err != nil {
		return err
	}
	if err := h.LinkAdd(&netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: bridge}}); err != nil {
		return fmt.Errorf("bridge: %w", err)
	}
	if err := address(h, bridge, Control); err != nil {
		return err
	}
	for n := 1; n <= nodes; n++ {
		if err := route(h, bridge, NodePods(n), Node(n)); err != nil {
			return err
		}
	}
	return nil
}

// SetUpNode lays the cable between the bridge and a node, and the node's routes to the pods
// of the others.
func SetUpNode(control, pid, number, nodes int) error {
	c, err := at(control)
	if err != nil {
		return err
	}
	defer c.Close()
	h, err := at(pid)
	if err != nil {
		return err
	}
	defer h.Close()
	if err := up(h, "lo"); err != nil {
		return err
	}
	hub, err := c.LinkByName(bridge)
	if err != nil {
		return fmt.Errorf("bridge: %w", err)
	}
	// A cable left by a node that ended goes with its namespace, but not at once.
	if old, err := c.LinkByName(cable(number)); err == nil {
		_ = c.LinkDel(old)
	}
	veth := &netlink.Veth{
		LinkAttrs: netlink.LinkAttrs{Name: cable(number), MasterIndex: hub.Attrs().Index},
		PeerName:  "eth0", PeerNamespace: netlink.NsPid(pid),
	}
	if err := c.LinkAdd(veth); err != nil {
		return fmt.Errorf("cable of node%d: %w", number, err)
	}
	if err := up(c, cable(number)); err != nil {
		return err
	}
	if err := address(h, "eth0", Node(number)); err != nil {
		return err
	}
	// Without a route to a Service's address the node's own programs would fail before
	// kube-proxy's rules see a packet.
	if err := route(h, "eth0", Services, ""); err != nil {
		return err
	}
	for n := 1; n <= nodes; n++ {
		if n == number {
			continue
		}
		if err := route(h, "eth0", NodePods(n), Node(n)); err != nil {
			return err
		}
	}
	return nil
}

// Connect plugs the cable of a node in, or pulls it out.
func Connect(control, number int, connected bool) error {
	h, err := at(control)
	if err != nil {
		return err
	}
	defer h.Close()
	link, err := h.LinkByName(cable(number))
	if err != nil {
		return fmt.Errorf("cable of node%d: %w", number, err)
	}
	change := h.LinkSetDown
	if connected {
		change = h.LinkSetUp
	}
	if err := change(link); err != nil {
		return fmt.Errorf("cable of node%d: %w", number, err)
	}
	return nil
}

// Connected tells whether the cable of a node is plugged in.
func Connected(control, number int) (bool, error) {
	h, err := at(control)
	if err != nil {
		return false, err
	}
	defer h.Close()
	link, err := h.LinkByName(cable(number))
	if errors.As(err, new(netlink.LinkNotFoundError)) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("cable of node%d: %w", number, err)
	}
	return link.Attrs().Flags&net.FlagUp != 0, nil
}

func up(h *netlink.Handle, name string) error {
	link, err := h.LinkByName(name)
	if err != nil {
		return fmt.Errorf("link %s: %w", name, err)
	}
	if err := h.LinkSetUp(link); err != nil {
		return fmt.Errorf("link %s: %w", name, err)
	}
	return nil
}

func address(h *netlink.Handle, name, ip string) error {
	link, err := h.LinkByName(name)
	if err != nil {
		return fmt.Errorf("link %s: %w", name, err)
	}
	a := &netlink.Addr{IPNet: &net.IPNet{IP: net.ParseIP(ip), Mask: net.CIDRMask(24, 32)}}
	if err := h.AddrAdd(link, a); err != nil {
		return fmt.Errorf("address %s of %s: %w", ip, name, err)
	}
	return up(h, name)
}

func route(h *netlink.Handle, name, to, via string) error {
	link, err := h.LinkByName(name)
	if err != nil {
		return fmt.Errorf("link %s: %w", name, err)
	}
	_, destination, err := net.ParseCIDR(to)
	if err != nil {
		return fmt.Errorf("route to %s: %w", to, err)
	}
	r := &netlink.Route{LinkIndex: link.Attrs().Index, Dst: destination, Gw: net.ParseIP(via)}
	if via == "" {
		r.Scope = netlink.SCOPE_LINK
	}
	if err := h.RouteAdd(r); err != nil {
		return fmt.Errorf("route to %s: %w", to, err)
	}
	return nil
}
