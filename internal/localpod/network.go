// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package localpod

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// A network is 127.<block>.0.0/16. Whoever listens on its lock address has it.
const (
	firstBlock = 16
	lastBlock  = 126
	lockPort   = 47631
)

// network gives pods addresses.
type network struct {
	block byte
	lock  net.Listener

	mu    sync.Mutex
	byPod map[string]netip.Addr
}

// claimNetwork takes a network that nobody has: the one that file names, if it is
// there, else the first. file then names what was taken.
func claimNetwork(file string) (*network, error) {
	first := firstBlock
	if text, err := os.ReadFile(file); err == nil {
		if block, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && block >= firstBlock && block <= lastBlock {
			first = block
		}
	}
	const blocks = lastBlock - firstBlock + 1
	for i := range blocks {
		block := byte(firstBlock + (first-firstBlock+i)%blocks)
		lock, err := net.Listen("tcp4", netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, block, 255, 254}), lockPort).String())
		switch {
		case errors.Is(err, syscall.EADDRINUSE):
			continue
		case err != nil:
			return nil, fmt.Errorf("address of 127.0.0.0/8 for pods: %w", err)
		}
		if err := os.WriteFile(file, []byte(strconv.Itoa(int(block))+"\n"), 0o600); err != nil {
			return nil, errors.Join(err, lock.Close())
		}
		return &network{block: block, lock: lock, byPod: map[string]netip.Addr{}}, nil
	}
	return nil, fmt.Errorf("all %d networks of 127.0.0.0/8 that pods may have are in use", blocks)
}

func (n *network) close() error { return n.lock.Close() }

// address is the pod's; it is given one when it has none.
func (n *network) address(pod string) netip.Addr {
	n.mu.Lock()
	defer n.mu.Unlock()
	if a, found := n.byPod[pod]; found {
		return a
	}
	a := n.nth(len(n.byPod))
	n.byPod[pod] = a
	return a
}

// nth is the address of the pod that was asked for after i others.
func (n *network) nth(i int) netip.Addr {
	const perByte = 250
	return netip.AddrFrom4([4]byte{127, n.block, byte(i / perByte), byte(i%perByte + 1)})
}

// Addresses are the first n addresses that pods can have, whether one has them or not.
func (h *Host) Addresses(n int) []netip.Addr {
	all := make([]netip.Addr, 0, n)
	for i := range n {
		all = append(all, h.network.nth(i))
	}
	return all
}

// checkFree fails when somebody listens on the port, on this address or on all.
func checkFree(address netip.Addr, port int32) error {
	at := netip.AddrPortFrom(address, uint16(port)).String()
	listener, err := net.Listen("tcp4", at)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return &PortTakenError{Address: at}
	case err != nil:
		return fmt.Errorf("port %s: %w", at, err)
	}
	return listener.Close()
}

// PortTakenError says that another program listens where a pod has to.
type PortTakenError struct {
	// Address is host:port.
	Address string
}

func (e *PortTakenError) Error() string {
	return fmt.Sprintf("port %s: taken by another program, which listens there or on all addresses", e.Address)
}
