// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package step

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/plan"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// meet introduces nodes. Both ends have just said who they are on the connections that are
// still open, so that no MEET reaches a stranger: a MEET joins two clusters for good.
func (e Env) meet(ctx context.Context, s plan.Meet) error {
	var refs []plan.Ref
	seen := map[plan.Ref]bool{}
	from, to := map[plan.Ref][]plan.Ref{}, map[plan.Ref][]plan.Ref{}
	for _, edge := range s.Edges {
		for _, r := range []plan.Ref{edge.From, edge.To} {
			if !seen[r] {
				seen[r] = true
				refs = append(refs, r)
			}
		}
		from[edge.From] = append(from[edge.From], edge.To)
		to[edge.To] = append(to[edge.To], edge.From)
	}
	peers := make([]peer, len(refs))
	index := map[plan.Ref]int{}
	for i, r := range refs {
		index[r] = i
	}
	err := each(refs, func(r plan.Ref) error {
		p, err := e.peer(ctx, r)
		peers[index[r]] = p
		return err
	})
	if err != nil {
		return err
	}
	err = each(refs, func(r plan.Ref) error {
		p := peers[index[r]]
		peerOf := func(to plan.Ref) peer { return peers[index[to]] }
		apart, err := e.apart(ctx, p, from[r], peerOf)
		switch {
		case err != nil:
			return err
		case len(apart) > 0:
			return e.introduce(ctx, p, apart, peerOf)
		}
		for _, to := range from[r] {
			if e.answers[r.Pod].Lost(e.answers[to.Pod]) {
				return &RacedError{Pod: r.Pod, What: "has a link to " + to.Pod + " again"}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	// Who was met knows the other only when it has called back.
	err = each(refs, func(r plan.Ref) error {
		if len(to[r]) == 0 {
			return nil
		}
		return e.acquainted(ctx, peers[index[r]], to[r])
	})
	if err != nil {
		return err
	}
	return e.announce(ctx, s.Edges, peers)
}

// relink is how long a node may take to connect again to one that it knows: it does so ten
// times a second. A MEET between nodes that know each other, as an interrupted Job leaves
// them behind, drops their links for that long, and another would do so once more.
const relink = 300 * time.Millisecond

// apart are those of the others that a node does not know, or has no link to for a while, or
// that for a while do not know it: a handshake that only one end has ended, since the other
// was restarted elsewhere, leaves servers before 8.1 like that for good.
func (e Env) apart(ctx context.Context, p peer, others []plan.Ref, peerOf func(plan.Ref) peer) ([]plan.Ref, error) {
	if len(others) == 0 {
		return nil, nil
	}
	for began := e.Now(); ; {
		now, err := e.nodes(ctx, p)
		if err != nil {
			return nil, err
		}
		var apart []plan.Ref
		strange := false
		for _, to := range others {
			entry, known := now.Sees(to.ID)
			unknown := !known || entry.Handshake
			strange = strange || unknown
			if unknown || now.Lost(e.answers[to.Pod]) {
				apart = append(apart, to)
			}
		}
		if len(apart) == 0 {
			if apart, err = e.unknown(ctx, p, others, peerOf); err != nil {
				return nil, err
			}
		}
		if len(apart) == 0 || strange || e.Now().Sub(began) >= relink {
			return apart, nil
		}
		if err := e.Sleep(ctx, firstPoll); err != nil {
			return nil, err
		}
	}
}

// unknown are those that do not know a node.
func (e Env) unknown(ctx context.Context, p peer, others []plan.Ref, peerOf func(plan.Ref) peer) ([]plan.Ref, error) {
	var unknown []plan.Ref
	for _, to := range others {
		its, err := e.nodes(ctx, peerOf(to))
		if err != nil {
			return nil, err
		}
		if entry, known := its.Sees(p.ref.ID); !known || entry.Handshake {
			unknown = append(unknown, to)
		}
	}
	return unknown, nil
}

// introduce tells one node the addresses of others and waits until it has a link to each.
func (e Env) introduce(ctx context.Context, p peer, others []plan.Ref, peerOf func(plan.Ref) peer) error {
	strangers := make([]peer, len(others))
	for i, other := range others {
		strangers[i] = peerOf(other)
	}
	if err := e.sendMeet(ctx, p, strangers); err != nil {
		return err
	}
	return e.acquainted(ctx, p, others)
}

// sendMeet tells one node the addresses of others.
func (e Env) sendMeet(ctx context.Context, p peer, others []peer) error {
	if len(others) == 0 {
		return nil
	}
	commands := make([]node.Command, len(others))
	for i, other := range others {
		words := []string{"CLUSTER", "MEET", other.address.IP, strconv.Itoa(other.address.Port)}
		if other.busPort != 0 && other.busPort != other.address.Port+10000 {
			words = append(words, strconv.Itoa(other.busPort))
		}
		commands[i] = words
	}
	if err := node.FirstError(p.conn.Do(ctx, commands...)); err != nil {
		e.drop(p, err)
		return fmt.Errorf("pod %s: CLUSTER MEET: %w", p.ref.Pod, err)
	}
	return nil
}

// heard is for how long nodes are asked whether they have heard what another told them.
const heard = time.Second

// announce has nodes that have met say once more what they are, where the other does not
// know yet: from the packet that makes it know a node a server takes the name alone, not the
// slots, and the role only where it knew the primary before. What comes with a MEET from a
// node that it knows it does take. Without it the next of the pings that a node sends to
// another at random tells it, seconds later; so what is unheard in the end is no failure.
func (e Env) announce(ctx context.Context, edges []plan.Edge, peers []peer) error {
	for began, told := e.Now(), false; ; {
		deaf, err := e.deaf(ctx, edges, peers)
		if err != nil || len(deaf) == 0 || e.Now().Sub(began) >= heard {
			return err
		}
		if !told {
			told = true
			err := each(peers, func(p peer) error { return e.sendMeet(ctx, p, deaf[p.ref]) })
			if err != nil {
				return err
			}
		}
		if err := e.Sleep(ctx, firstPoll); err != nil {
			return err
		}
	}
}

// deaf are, by the node that has to speak, those ends of its edges that know it otherwise
// than it knows itself, or have no link to it.
func (e Env) deaf(ctx context.Context, edges []plan.Edge, peers []peer) (map[plan.Ref][]peer, error) {
	views := make([]survey.Answer, len(peers))
	index := map[plan.Ref]int{}
	for i, p := range peers {
		index[p.ref] = i
	}
	err := each(peers, func(p peer) error {
		now, err := e.nodes(ctx, p)
		views[index[p.ref]] = now
		return err
	})
	if err != nil {
		return nil, err
	}
	deaf := map[plan.Ref][]peer{}
	check := func(speaker, listener int) {
		own := views[speaker].Own()
		seen, _ := views[listener].Sees(peers[speaker].ref.ID)
		if seen.Replica != own.Replica || seen.Primary != own.Primary || !seen.Slots.Covers(own.Slots) || !seen.Linked {
			deaf[peers[speaker].ref] = append(deaf[peers[speaker].ref], peers[listener])
		}
	}
	for _, edge := range edges {
		from, to := index[edge.From], index[edge.To]
		check(from, to)
		check(to, from)
	}
	return deaf, nil
}

// acquainted waits until a node has a link to each of the others.
func (e Env) acquainted(ctx context.Context, p peer, others []plan.Ref) error {
	return e.until(ctx, p, fmt.Sprintf("has a link to all %d nodes that it met", len(others)), func(ctx context.Context) (bool, error) {
		now, err := e.nodes(ctx, p)
		if err != nil {
			return false, err
		}
		for _, other := range others {
			if entry, known := now.Sees(other.ID); !known || entry.Handshake || now.Lost(e.answers[other.Pod]) {
				return false, nil
			}
		}
		return true, nil
	})
}
