// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package client_test

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/valkey-render/valkey-render/topologyjob/client"
)

// cachingDNS answers as CoreDNS with a cache of 30 s does: what did not exist when it was
// first asked for does not exist until 30 s later.
type cachingDNS struct {
	mu sync.Mutex
	// born is when pods begin to exist.
	born    map[string]time.Time
	noSRV   bool
	refused map[string]time.Time
	asked   map[string]int
}

func (d *cachingDNS) ask(kind, host string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	key := kind + host
	d.asked[key]++
	born, known := d.born[host]
	at, remembered := d.refused[key]
	if remembered && time.Since(at) < 30*time.Second || !known || time.Now().Before(born) || d.noSRV && kind == "SRV" {
		if !remembered || time.Since(at) >= 30*time.Second {
			d.refused[key] = time.Now()
		}
		return &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	return nil
}

func (d *cachingDNS) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	if err := d.ask("A", host); err != nil {
		return nil, err
	}
	return []netip.Addr{netip.MustParseAddr("10.0.0.1")}, nil
}

func (d *cachingDNS) LookupSRV(_ context.Context, _, _, host string) (string, []*net.SRV, error) {
	return "", nil, d.ask("SRV", host)
}

// TestNamesThatAreOnlyJustMade: how long it takes to learn the addresses of all pods that
// come to exist at the given times.
func TestNamesThatAreOnlyJustMade(t *testing.T) {
	for name, c := range map[string]struct {
		born  []time.Duration
		noSRV bool
		most  time.Duration // a bound of what was seen, not a wish
	}{
		"there already":               {[]time.Duration{0, 0, 0, 0, 0, 0}, false, 100 * time.Millisecond},
		"all at once":                 {[]time.Duration{2e9, 2e9, 2e9, 2e9, 2e9, 2e9}, false, 7 * time.Second},
		"one after the other":         {[]time.Duration{1e9, 1500e6, 2e9, 2500e6, 3e9, 3500e6}, false, 8 * time.Second},
		"late":                        {[]time.Duration{6e9, 6e9, 6e9, 6e9, 6e9, 6e9}, false, 11 * time.Second},
		"without records of services": {[]time.Duration{0, 0, 0, 0, 0, 0}, true, 12 * time.Second},
		"one that takes very long":    {[]time.Duration{0, 0, 0, 0, 0, 20e9}, false, 60 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				dns := &cachingDNS{born: map[string]time.Time{}, noSRV: c.noSRV, refused: map[string]time.Time{}, asked: map[string]int{}}
				for i, after := range c.born {
					dns.born[fmt.Sprintf("c-%d.", i)] = began.Add(after)
				}
				names := client.NewNames(dns, time.Now)
				for !all(t, names, len(c.born)) {
					if time.Since(began) > c.most {
						t.Fatalf("not all are known after %s: %v", c.most, dns.asked)
					}
					time.Sleep(50 * time.Millisecond)
				}
				t.Logf("after %s, asked %v", time.Since(began), dns.asked)
			})
		})
	}
}

// all asks for all names side by side, as a survey does.
func all(t *testing.T, names *client.Names, n int) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	var wg sync.WaitGroup
	found := make([]bool, n)
	for i := range n {
		wg.Go(func() {
			ip, err := names.Resolve(ctx, fmt.Sprintf("c-%d.", i))
			if err == nil && ip != "10.0.0.1" {
				t.Errorf("address %s", ip)
			}
			found[i] = err == nil
		})
	}
	wg.Wait()
	for _, one := range found {
		if !one {
			return false
		}
	}
	return true
}

// silentDNS never answers.
type silentDNS struct{}

func (silentDNS) LookupNetIP(ctx context.Context, _, _ string) ([]netip.Addr, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (silentDNS) LookupSRV(ctx context.Context, _, _, _ string) (string, []*net.SRV, error) {
	<-ctx.Done()
	return "", nil, ctx.Err()
}

// TestNamesAreNotWaitedFor: a server of names that does not answer costs a pass as much as a pod may.
func TestNamesAreNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		names := client.NewNames(silentDNS{}, time.Now)
		began := time.Now()
		if all(t, names, 6) {
			t.Error("names have addresses")
		}
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("took %s", took)
		}
	})
}

// TestNamesThatAreNotThereSayWhy: also those that wait for another one's answer.
func TestNamesThatAreNotThereSayWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		names := client.NewNames(&cachingDNS{refused: map[string]time.Time{}, asked: map[string]int{}}, time.Now)
		for i := range 3 {
			_, err := names.Resolve(t.Context(), fmt.Sprintf("c-%d.", i))
			if err == nil || !strings.Contains(err.Error(), "lookup c-0.: no such host") {
				t.Errorf("c-%d: %v", i, err)
			}
		}
	})
}

// TestAPodIsFoundAtOnce: it is asked for each time, and for its address only once it is there,
// so that no cache tells others that it has none.
func TestAPodIsFoundAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const pod = "c-0-0.c-nodes.ns.svc.cluster.local"
		dns := &cachingDNS{born: map[string]time.Time{pod + ".": time.Now().Add(time.Second)}, refused: map[string]time.Time{}, asked: map[string]int{}}
		find := client.Find(dns)
		if ip, err := find(t.Context(), pod); err == nil || dns.asked["A"+pod+"."] > 0 {
			t.Errorf("%s %v, asked %v", ip, err, dns.asked)
		}
		time.Sleep(31 * time.Second)
		for range 2 {
			if ip, err := find(t.Context(), pod); err != nil || ip != "10.0.0.1" {
				t.Error(ip, err)
			}
		}
		if dns.asked["SRV"+pod+"."] != 3 {
			t.Errorf("asked %v", dns.asked)
		}
	})
}
