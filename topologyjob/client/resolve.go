// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"
)

const (
	// lookupTimeout bounds one question: one that is asked again in the next pass is worth
	// more than one that is waited for.
	lookupTimeout = time.Second
	// scoutPause is the time between two questions while no pod is known to exist. It grows
	// by half the time that has gone by, up to mostScoutPause.
	scoutPause     = 300 * time.Millisecond
	mostScoutPause = 2 * time.Second
	// otherPause is how long after one refused question the other one about the same name is
	// asked: long enough for the pods of a cluster to start one after the other.
	otherPause = 2500 * time.Millisecond
	// foundPause is how long after the first pod was found the others may take.
	foundPause = 2 * time.Second
	// sparePause is how long addresses are not asked for while no pod is known to exist:
	// pods may take that long to start, and DNS may have no SRV records of them.
	sparePause = 8 * time.Second
)

// Lookup asks DNS; net.Resolver does.
type Lookup interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
	LookupSRV(ctx context.Context, service, proto, name string) (string, []*net.SRV, error)
}

// Names looks up the addresses of pods that are only just being started.
//
// A cluster's DNS remembers for 30 s that a name did not exist (the cache of CoreDNS, by
// name and type of record), so that each question may be asked too early only once. There
// are two of each pod's name: the SRV record, which only says that the pod exists, and
// the address. While no pod is known to exist, questions are asked one by one with pauses;
// the first answer shows that it is time to ask about all the others.
type Names struct {
	lookup Lookup
	now    func() time.Time

	// turn holds one element while nobody reads or writes what follows: a question that
	// the others wait for is asked meanwhile, and they may give up waiting.
	turn  chan struct{}
	hosts map[string]*asked
	// first and last are when questions were asked while no pod was known to exist, found
	// when that ended.
	first, last, found time.Time
	// why is the answer to the last of these questions.
	why error
}

// asked is what is known of a name.
type asked struct {
	// exists is whether DNS had it once, or both questions were asked too early.
	exists bool
	// refused is when the SRV record was asked for in vain; zero if it was not asked for.
	refused time.Time
}

// NewNames makes Names that knows nothing yet.
func NewNames(lookup Lookup, now func() time.Time) *Names {
	n := &Names{lookup: lookup, now: now, turn: make(chan struct{}, 1), hosts: map[string]*asked{}}
	n.turn <- struct{}{}
	return n
}

// Resolve looks up the address of a pod's name, or says that it is too early to. Of several
// addresses the first is taken.
func (n *Names) Resolve(ctx context.Context, host string) (string, error) {
	if err := n.exists(ctx, host); err != nil {
		return "", err
	}
	return n.address(ctx, host)
}

func (n *Names) address(ctx context.Context, host string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	addresses, err := n.lookup.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return "", err
	}
	if len(addresses) == 0 {
		return "", fmt.Errorf("name %s has no address", host)
	}
	select {
	case <-n.turn:
		n.find(n.now())
		n.turn <- struct{}{}
	case <-ctx.Done():
		// The answer is there all the same; that pods exist shows the next one, too.
	}
	return addresses[0].Unmap().String(), nil
}

// exists returns nil when it is time to ask for the address.
func (n *Names) exists(ctx context.Context, host string) error {
	select {
	case <-n.turn:
	case <-ctx.Done():
		return fmt.Errorf("name %s is not looked up: %w", host, ctx.Err())
	}
	defer func() { n.turn <- struct{}{} }()
	h := n.hosts[host]
	if h == nil {
		h = &asked{}
		n.hosts[host] = h
	}
	now := n.now()
	switch {
	case h.exists:
		return nil
	case !h.refused.IsZero() && n.early(h, now):
		return fmt.Errorf("name %s does not exist yet", host)
	case n.found.IsZero() && now.Sub(n.last) < n.pause(now):
		return fmt.Errorf("name %s is not looked up yet, since the last one asked for is not there (%w); names of pods exist inside the cluster only", host, n.why)
	case !h.refused.IsZero():
		n.scouted(now)
		h.exists = true
		return nil
	case !n.found.IsZero():
		// The others need not wait for this one's answer.
		n.turn <- struct{}{}
		err := n.record(ctx, host)
		<-n.turn
		return h.answered(err, n.now())
	}
	n.scouted(now)
	err := h.answered(n.record(ctx, host), n.now())
	if n.why = err; err == nil {
		n.find(n.now())
	}
	return err
}

// early reports whether it is too early for the second question about a name.
func (n *Names) early(h *asked, now time.Time) bool {
	if n.found.IsZero() {
		return now.Sub(n.first) < sparePause
	}
	return now.Sub(h.refused) < otherPause || now.Sub(n.found) < foundPause
}

func (n *Names) find(now time.Time) {
	if n.found.IsZero() {
		n.found = now
	}
}

// scouted notes a question that is asked while no pod is known to exist.
func (n *Names) scouted(now time.Time) {
	if n.first.IsZero() {
		n.first = now
	}
	n.last = now
}

func (n *Names) pause(now time.Time) time.Duration {
	if n.first.IsZero() {
		return 0
	}
	return min(scoutPause+now.Sub(n.first)/2, mostScoutPause)
}

// record asks for the SRV record of a name.
func (n *Names) record(ctx context.Context, host string) error {
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	_, _, err := n.lookup.LookupSRV(ctx, "", "", host)
	return err
}

// answered takes in the answer of now to the question for the SRV record. One that never came
// says nothing.
func (h *asked) answered(err error, now time.Time) error {
	var refused *net.DNSError
	switch {
	case err == nil:
		h.exists = true
	case errors.As(err, &refused) && refused.IsNotFound:
		h.refused = now
	}
	return err
}

// Find makes a function that tells where a pod is at this moment. Unlike Names it asks each
// time, for SRV records first: hardly anybody else does, so that a cache knows no refusal of
// them, and gets none of the addresses, which others wait for.
func Find(lookup Lookup) func(ctx context.Context, host string) (string, error) {
	return func(ctx context.Context, host string) (string, error) {
		ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
		defer cancel()
		// The dot at the end keeps the resolver from trying its search list.
		host = strings.TrimSuffix(host, ".") + "."
		if _, _, err := lookup.LookupSRV(ctx, "", "", host); err != nil {
			return "", err
		}
		addresses, err := lookup.LookupNetIP(ctx, "ip", host)
		if err != nil {
			return "", err
		}
		if len(addresses) == 0 {
			return "", fmt.Errorf("name %s has no address", host)
		}
		return addresses[0].Unmap().String(), nil
	}
}
