// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package servertest

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"
)

func TestFreePortIsNeverGivenTwice(t *testing.T) {
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		seen = map[int]bool{}
	)
	for range 8 {
		wg.Go(func() {
			for range 20 {
				port, err := FreePort()
				mu.Lock()
				if err != nil || seen[port] || port+busOffset >= 32768 {
					t.Errorf("%d: %v", port, err)
				}
				seen[port] = true
				mu.Unlock()
			}
		})
	}
	wg.Wait()
}

func TestPortsRestAndAreFree(t *testing.T) {
	taken, err := os.OpenFile(filepath.Join(t.TempDir(), "ports"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	port, err := FreePort()
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	want := func(what string, at time.Time, want bool) {
		t.Helper()
		if got, err := take(taken, port, at); got != want || err != nil {
			t.Errorf("%s: %t %v", what, got, err)
		}
	}
	want("new", now, true)
	want("again", now.Add(time.Minute), false)
	want("later", now.Add(time.Hour), true)
	bus, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port+busOffset)))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = bus.Close() }()
	want("its bus port is in use", now.Add(2*time.Hour), false)
}
