// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package step

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/plan"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// Env is what steps act with.
type Env struct {
	// Pool holds the connections.
	Pool *node.Pool
	// Find, when not nil, is where a pod is at this moment by its DNS name. It fails for one that
	// is nowhere.
	Find func(ctx context.Context, name string) (string, error)
	// Sleep waits, or returns the context's error.
	Sleep func(ctx context.Context, d time.Duration) error
	// Now is the time.
	Now func() time.Time
	// Patience is how long a step looks for its proof, 5 s when 0.
	Patience time.Duration
	// Login is the user that MIGRATE logs in as at its target; nil is nobody.
	Login func() (node.Login, error)
	// OnProgress, when not nil, is told what has moved since it was told before. It is
	// called from several goroutines.
	OnProgress func(Progress)

	// SentinelLogin is who sentinels log in as at servers; nil is nobody.
	SentinelLogin func() (node.Login, error)
	// SentinelSettings are what sentinels are told about the primary that they watch, such
	// as down-after-milliseconds.
	SentinelSettings map[string]string

	answers   map[string]*survey.Answer
	sentinels map[string]*survey.Sentinel
}

// RacedError says that what a step was planned for is no longer so: plan again.
type RacedError struct {
	Pod  string
	What string
	// IP is where the pod is by now, "" when that has not changed.
	IP string
}

func (e *RacedError) Error() string { return "pod " + e.Pod + ": " + e.What }

// UnprovenError says that an effect was not seen in time: plan again.
type UnprovenError struct {
	Pod  string
	What string
}

func (e *UnprovenError) Error() string { return "pod " + e.Pod + ": not seen in time: " + e.What }

// Run does one step. The view is the survey that the plan was made from. Errors of several
// nodes are joined; whatever they are, the next survey tells what is left to do.
func (e Env) Run(ctx context.Context, view survey.View, s plan.Step) error {
	e.answers = map[string]*survey.Answer{}
	for i := range view.Answers {
		e.answers[view.Answers[i].Pod.Name] = &view.Answers[i]
	}
	e.sentinels = map[string]*survey.Sentinel{}
	for i := range view.Sentinels {
		e.sentinels[view.Sentinels[i].Pod.Name] = &view.Sentinels[i]
	}
	if e.Patience == 0 {
		e.Patience = 5 * time.Second
	}
	switch s := s.(type) {
	case plan.Epochs:
		return e.epochs(ctx, s)
	case plan.Assign:
		return e.assign(ctx, s)
	case plan.Meet:
		return e.meet(ctx, s)
	case plan.Empty:
		return e.empty(ctx, s)
	case plan.Attach:
		return e.attach(ctx, s)
	case plan.Close:
		return e.close(ctx, s)
	case plan.Promote:
		return e.promote(ctx, s)
	case plan.Forget:
		return e.forget(ctx, s)
	case plan.MoveSlots:
		return e.move(ctx, s)
	}
	return e.runWithoutSlots(ctx, s)
}

// peer is a node with the connection on which its ID was seen.
type peer struct {
	ref     plan.Ref
	address node.Address
	busPort int
	conn    node.Conn
}

// peer connects to a node and checks that it is the one that is meant: an address may
// belong to another pod by now, even to one of another cluster.
func (e Env) peer(ctx context.Context, ref plan.Ref) (peer, error) {
	answer := e.answers[ref.Pod]
	if answer == nil {
		return peer{}, fmt.Errorf("pod %s: not in the survey", ref.Pod)
	}
	conn, err := e.Pool.Get(ctx, answer.Address)
	if err != nil {
		return peer{}, fmt.Errorf("pod %s: %w", ref.Pod, err)
	}
	p := peer{ref: ref, address: answer.Address, busPort: answer.Own().BusPort, conn: conn}
	id, err := node.Ask(ctx, conn, "CLUSTER", "MYID").Text()
	if err != nil {
		e.drop(p, err)
		return peer{}, fmt.Errorf("pod %s: CLUSTER MYID: %w", ref.Pod, err)
	}
	if id != ref.ID {
		return peer{}, &RacedError{Pod: ref.Pod, What: "is now another node"}
	}
	return p, nil
}

// drop forgets a connection that failed.
func (e Env) drop(p peer, err error) {
	var refused *node.RefusedError
	if !errors.As(err, &refused) {
		e.Pool.Drop(p.address, p.conn)
	}
}

// do sends one command to a peer.
func (e Env) do(ctx context.Context, p peer, words ...string) error {
	if err := node.Ask(ctx, p.conn, words...).Err; err != nil {
		e.drop(p, err)
		return fmt.Errorf("pod %s: %s: %w", p.ref.Pod, node.Command(words), err)
	}
	return nil
}

// nodes is what a peer believes now.
func (e Env) nodes(ctx context.Context, p peer) (survey.Answer, error) {
	text, err := node.Ask(ctx, p.conn, "CLUSTER", "NODES").Text()
	if err != nil {
		e.drop(p, err)
		return survey.Answer{}, fmt.Errorf("pod %s: CLUSTER NODES: %w", p.ref.Pod, err)
	}
	entries, err := node.ParseNodes(text)
	if err != nil {
		return survey.Answer{}, fmt.Errorf("pod %s: %w", p.ref.Pod, err)
	}
	return survey.Answer{ID: p.ref.ID, Nodes: entries}, nil
}

// look connects to a node and asks what it believes: what every step does before it acts.
func (e Env) look(ctx context.Context, ref plan.Ref) (peer, survey.Answer, error) {
	p, err := e.peer(ctx, ref)
	if err != nil {
		return peer{}, survey.Answer{}, err
	}
	now, err := e.nodes(ctx, p)
	return p, now, err
}

// poll is how long proofs wait between looks, at first and at most.
const (
	firstPoll = 10 * time.Millisecond
	lastPoll  = 200 * time.Millisecond
)

// until looks until seen says true, or patience ends.
func (e Env) until(ctx context.Context, p peer, what string, seen func(ctx context.Context) (bool, error)) error {
	patient, cancel := context.WithTimeout(ctx, e.Patience)
	defer cancel()
	for pause := firstPoll; ; pause = min(2*pause, lastPoll) {
		ok, err := seen(patient)
		switch {
		case ok && err == nil:
			return nil
		case err != nil && (ctx.Err() != nil || patient.Err() == nil):
			return err
		}
		// Patience may also end while a server is asked.
		if err != nil || e.Sleep(patient, pause) != nil {
			return &UnprovenError{Pod: p.ref.Pod, What: what}
		}
	}
}

// parallel is how many servers are asked at once.
const parallel = 64

// each runs work for the elements, many at once, and joins the errors.
func each[T any](list []T, work func(T) error) error {
	errs := make([]error, len(list))
	node.Each(len(list), parallel, func(i int) { errs[i] = work(list[i]) })
	return errors.Join(errs...)
}
