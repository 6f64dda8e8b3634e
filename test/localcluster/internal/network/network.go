// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// Addresses of every cluster, of both families. Clusters do not meet, so that all have the
// same.
const (
	Control      = "192.168.250.1" // etcd, the API server, DNS
	control6     = "fd00:250::1"
	services     = "10.96.0.0/16"
	services6    = "fd00:96::/112"
	pods         = "10.244.0.0/16"
	pods6        = "fd00:244::/48"
	bridge       = "hosts"
	prefixLength = 24
	prefix6      = 64
)

// IPv6 tells whether this machine's kernel has IPv6. Clusters then have both families, with
// IPv4 first; else IPv4 alone.
func IPv6() bool {
	_, err := os.Stat("/proc/sys/net/ipv6/conf/all")
	return err == nil
}

// families joins what is of IPv4 with what is of IPv6, where there is that.
func families(four, six string) []string {
	if IPv6() {
		return []string{four, six}
	}
	return []string{four}
}

// Services are the ranges of Services. An API server has both where nodes have not: it only
// hands the addresses out.
func Services() []string { return []string{services, services6} }

// Pods are the ranges of all pods.
func Pods() []string { return families(pods, pods6) }

// Node are the addresses of node number n, counted from 1.
func Node(n int) []string {
	return families(fmt.Sprintf("192.168.250.%d", 10+n), fmt.Sprintf("fd00:250::%d", 10+n))
}

// NodePods are the ranges of the pods on node number n.
func NodePods(n int) []string {
	return families(fmt.Sprintf("10.244.%d.0/24", n), fmt.Sprintf("fd00:244:0:%d::/64", n))
}

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
	if err := address(h, bridge, families(Control, control6)); err != nil {
		return err
	}
	for n := 1; n <= nodes; n++ {
		if err := routes(h, bridge, NodePods(n), Node(n)); err != nil {
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
	if err := routes(h, "eth0", families(services, services6), nil); err != nil {
		return err
	}
	for n := 1; n <= nodes; n++ {
		if n == number {
			continue
		}
		if err := routes(h, "eth0", NodePods(n), Node(n)); err != nil {
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

func address(h *netlink.Handle, name string, addresses []string) error {
	link, err := h.LinkByName(name)
	if err != nil {
		return fmt.Errorf("link %s: %w", name, err)
	}
	for _, text := range addresses {
		ip := net.ParseIP(text)
		a := &netlink.Addr{IPNet: &net.IPNet{IP: ip, Mask: net.CIDRMask(prefixLength, 32)}}
		if ip.To4() == nil {
			a.Mask = net.CIDRMask(prefix6, 128)
			// Nobody else has it, and to find that out takes a second or two.
			a.Flags = unix.IFA_F_NODAD
		}
		if err := h.AddrAdd(link, a); err != nil {
			return fmt.Errorf("address %s of %s: %w", text, name, err)
		}
	}
	return up(h, name)
}

// routes adds a route for each family, by way of the address of the same family.
func routes(h *netlink.Handle, name string, to, via []string) error {
	link, err := h.LinkByName(name)
	if err != nil {
		return fmt.Errorf("link %s: %w", name, err)
	}
	for i, text := range to {
		_, destination, err := net.ParseCIDR(text)
		if err != nil {
			return fmt.Errorf("route to %s: %w", text, err)
		}
		r := &netlink.Route{LinkIndex: link.Attrs().Index, Dst: destination, Scope: netlink.SCOPE_LINK}
		if via != nil {
			r.Gw, r.Scope = net.ParseIP(via[i]), netlink.SCOPE_UNIVERSE
		}
		if err := h.RouteAdd(r); err != nil {
			return fmt.Errorf("route to %s: %w", text, err)
		}
	}
	return nil
}
