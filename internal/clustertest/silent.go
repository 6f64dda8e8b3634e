// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package clustertest

import (
	"syscall"
	"testing"
)

// Silence has nobody answer, nor refuse, at the address of the cluster bus that the server of
// a stopped pod had, as at the address of a pod that is gone: who connects there hangs.
func (p *Pod) Silence() {
	p.tb.Helper()
	address := &syscall.SockaddrInet4{Port: p.Place.Port + 10000, Addr: [4]byte{127, 0, 0, 1}}
	listener := socket(p.tb)
	for _, err := range []error{
		syscall.SetsockoptInt(listener, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1),
		syscall.Bind(listener, address),
		// The queue is full with the first one that nobody takes out of it.
		syscall.Listen(listener, 0),
		syscall.Connect(socket(p.tb), address),
	} {
		if err != nil {
			p.tb.Fatalf("pod %s: its old address: %v", p.Place.Name, err)
		}
	}
}

func socket(tb testing.TB) int {
	tb.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = syscall.Close(fd) })
	return fd
}
