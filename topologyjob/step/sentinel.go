// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package step

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/plan"
	"github.com/valkey-render/valkey-render/topologyjob/plan/replication"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// primaryName is what sentinels call the primary.
const primaryName = name.SentinelMaster

func refOf(a *survey.Answer) plan.Ref { return plan.Ref{Pod: a.Pod.Name, ID: a.ID} }

// sentinel connects to a sentinel, which must be the one that is meant, and asks what it
// watches: nil is nothing.
func (e Env) sentinel(ctx context.Context, ref plan.Ref) (peer, *survey.Watched, error) {
	answer := e.sentinels[ref.Pod]
	if answer == nil {
		return peer{}, nil, fmt.Errorf("sentinel %s: not in the survey", ref.Pod)
	}
	conn, err := e.Pool.Get(ctx, answer.Address)
	if err != nil {
		return peer{}, nil, fmt.Errorf("sentinel %s: %w", ref.Pod, err)
	}
	p := peer{ref: ref, address: answer.Address, conn: conn}
	watched, err := e.watched(ctx, p)
	return p, watched, err
}

func (e Env) watched(ctx context.Context, p peer) (*survey.Watched, error) {
	now := survey.Sentinel{Pod: e.sentinels[p.ref.Pod].Pod}
	if err := now.Fill(ctx, p.conn); err != nil {
		e.drop(p, err)
		return nil, fmt.Errorf("sentinel %s: %w", p.ref.Pod, err)
	}
	if now.ID != p.ref.ID {
		return nil, &RacedError{Pod: p.ref.Pod, What: "is now another sentinel"}
	}
	return now.Watched, nil
}

// unfinished is the quorum of a sentinel that has not been told everything yet: it never
// takes the primary for down by agreement, and the next plan sees that it differs.
const unfinished = 1000

// watch tells sentinels which primary to watch and how. One after the other: those that
// are not told yet keep watching what they did.
func (e Env) watch(ctx context.Context, s replication.Watch) error {
	_, primary, err := e.server(ctx, s.Primary)
	if err != nil {
		return err
	}
	if !primary.Replication.Primary {
		return &RacedError{Pod: s.Primary.Pod, What: "is no primary any more"}
	}
	for _, r := range s.Sentinels {
		if err := e.watchOne(ctx, r, primary, s.Quorum); err != nil {
			return err
		}
	}
	return nil
}

func (e Env) watchOne(ctx context.Context, r plan.Ref, primary survey.Answer, quorum int) error {
	p, watched, err := e.sentinel(ctx, r)
	if err != nil {
		return err
	}
	if watched != nil && watched.Has("failover_in_progress") {
		return &RacedError{Pod: r.Pod, What: "is failing over"}
	}
	// A file that cannot be read changes nothing.
	settings, err := e.settings()
	if err != nil {
		return err
	}
	if watched != nil && !primary.Names(watched.Endpoint) {
		if err := e.do(ctx, p, "SENTINEL", "REMOVE", primaryName); err != nil {
			return err
		}
		watched = nil
	}
	if watched == nil {
		at := primary.Endpoint()
		if err := e.do(ctx, p, "SENTINEL", "MONITOR", primaryName, at.Host, strconv.Itoa(at.Port), strconv.Itoa(unfinished)); err != nil {
			return err
		}
	}
	if len(settings) > 0 {
		if err := e.do(ctx, p, append([]string{"SENTINEL", "SET", primaryName}, settings...)...); err != nil {
			return err
		}
	}
	if err := e.do(ctx, p, "SENTINEL", "SET", primaryName, "quorum", strconv.Itoa(quorum)); err != nil {
		return err
	}
	return e.until(ctx, p, "watches the primary", func(ctx context.Context) (bool, error) {
		watched, err := e.watched(ctx, p)
		return err == nil && watched != nil && primary.Names(watched.Endpoint) && watched.Quorum == quorum, err
	})
}

// settings are names and values in turn; the password comes last, where an error leaves it
// out.
func (e Env) settings() ([]string, error) {
	var words []string
	for _, option := range slices.Sorted(maps.Keys(e.SentinelSettings)) {
		words = append(words, option, e.SentinelSettings[option])
	}
	if e.SentinelLogin == nil {
		return words, nil
	}
	login, err := e.SentinelLogin()
	if err != nil {
		return nil, fmt.Errorf("login of sentinels: %w", err)
	}
	if login.User == "" || len(login.Passwords) == 0 {
		return words, nil
	}
	return append(words, "auth-user", login.User, "auth-pass", login.Passwords[0]), nil
}

// unwatch makes sentinels watch nothing, unless one of them is promoting a replica by now.
func (e Env) unwatch(ctx context.Context, s replication.Unwatch) error {
	peers := make([]peer, len(s.Sentinels))
	for i, r := range s.Sentinels {
		p, watched, err := e.sentinel(ctx, r)
		if err != nil {
			return err
		}
		if watched != nil && (watched.Endpoint != e.sentinels[r.Pod].Watched.Endpoint || watched.Has("failover_in_progress")) {
			return &RacedError{Pod: r.Pod, What: "promotes a replica by now"}
		}
		peers[i] = p
	}
	return each(peers, func(p peer) error {
		if err := e.do(ctx, p, "SENTINEL", "REMOVE", primaryName); err != nil {
			if refused, ok := errors.AsType[*node.RefusedError](err); !ok || refused.Code() != "ERR" {
				return err
			}
		}
		return e.until(ctx, p, "watches nothing", func(ctx context.Context) (bool, error) {
			watched, err := e.watched(ctx, p)
			return err == nil && watched == nil, err
		})
	})
}

// reset makes one sentinel forget what it knows, while all is well, and waits until it has
// found everything again.
func (e Env) reset(ctx context.Context, s replication.Reset) error {
	p, watched, err := e.sentinel(ctx, s.Sentinel)
	if err != nil {
		return err
	}
	if watched == nil || watched.Down() || watched.Has("failover_in_progress") {
		return &RacedError{Pod: s.Sentinel.Pod, What: "has lost the primary by now"}
	}
	if err := e.do(ctx, p, "SENTINEL", "RESET", primaryName); err != nil {
		return err
	}
	// It asks the primary for its replicas every ten seconds.
	e.Patience = max(e.Patience, 25*time.Second)
	return e.until(ctx, p, "knows everything again", func(ctx context.Context) (bool, error) {
		watched, err := e.watched(ctx, p)
		return err == nil && watched != nil && len(watched.Replicas) >= s.Replicas && len(watched.Sentinels) >= s.Sentinels, err
	})
}
