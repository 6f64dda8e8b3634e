// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/node"
)

// Sentinel is what one sentinel told.
type Sentinel struct {
	Pod Pod `json:"pod"`
	// Problem is nil when it answered.
	Problem *Problem     `json:"problem,omitempty"`
	Address node.Address `json:"address"`
	// ID is its own, which it keeps when it restarts.
	ID      string `json:"id,omitempty"`
	Version string `json:"version,omitempty"`
	// Watched is the primary that it watches, nil for none.
	Watched *Watched `json:"watched,omitempty"`
}

// Answered reports whether it told what it watches.
func (s *Sentinel) Answered() bool { return s.Problem == nil }

// Watched is a primary as a sentinel knows it.
type Watched struct {
	Known
	Quorum int `json:"quorum"`
	// Epoch grows with each failover: the sentinel with the highest knows best.
	Epoch int64 `json:"epoch"`
	// DownAfter and FailoverTimeout are its settings.
	DownAfter       time.Duration `json:"downAfter"`
	FailoverTimeout time.Duration `json:"failoverTimeout"`
	// Replicas and Sentinels are the others that it knows.
	Replicas  []Known `json:"replicas,omitempty"`
	Sentinels []Known `json:"sentinels,omitempty"`
}

// Known is a server or a sentinel as a sentinel knows it.
type Known struct {
	Endpoint
	// ID is a sentinel's own ID, or the run ID of a server.
	ID string `json:"id,omitempty"`
	// Flags are such as master, slave, s_down, o_down, disconnected, failover_in_progress.
	Flags []string `json:"flags"`
	// DownFor is for how long it has been taken for down, 0 when it is not.
	DownFor time.Duration `json:"downFor,omitempty"`
	// Role is what it said of itself, "" before it did, and RoleFor for how long.
	Role    string        `json:"role,omitempty"`
	RoleFor time.Duration `json:"roleFor,omitempty"`
	// Priority is a replica's replica-priority.
	Priority int `json:"priority,omitempty"`
}

// Has reports whether a flag is set.
func (k Known) Has(flag string) bool { return slices.Contains(k.Flags, flag) }

// Down reports whether it is taken for down, by this sentinel or by all of them.
func (k Known) Down() bool { return k.Has("s_down") || k.Has("o_down") }

func (a Asker) askSentinel(ctx context.Context, pod Pod) Sentinel {
	ctx, cancel := context.WithTimeout(ctx, a.timeout())
	defer cancel()
	s := Sentinel{Pod: pod}
	var conn node.Conn
	if s.Address, conn, s.Problem = a.connect(ctx, pod); s.Problem != nil {
		return s
	}
	if err := s.Fill(ctx, conn); err != nil {
		a.Pool.Drop(s.Address, conn)
		return Sentinel{Pod: pod, Address: s.Address, Problem: problem(err)}
	}
	return s
}

// Fill asks a sentinel what it watches. The error says why it did not tell.
func (s *Sentinel) Fill(ctx context.Context, conn node.Conn) error {
	replies := conn.Do(ctx,
		node.Cmd("SENTINEL", "MYID"), node.Cmd("INFO", "server"),
		node.Cmd("SENTINEL", "MASTER", name.SentinelMaster),
		node.Cmd("SENTINEL", "REPLICAS", name.SentinelMaster),
		node.Cmd("SENTINEL", "SENTINELS", name.SentinelMaster),
	)
	if err := node.FirstError(replies[:2]); err != nil {
		return err
	}
	var err error
	if s.ID, err = replies[0].Text(); err != nil {
		return &unreadableError{err}
	}
	info, err := replies[1].Text()
	if err != nil {
		return &unreadableError{err}
	}
	s.Version = node.ParseInfo(info).Version()
	if err := node.FirstError(replies[2:]); err != nil {
		if refused, ok := errors.AsType[*node.RefusedError](err); ok && strings.Contains(refused.Words, "No such master") {
			return nil
		}
		return err
	}
	return s.watches(replies[2].Value, replies[3].Value, replies[4].Value)
}

func (s *Sentinel) watches(primary, replicas, sentinels any) error {
	fields := node.Pairs(primary)
	known, err := parseKnown(fields)
	if err != nil {
		return &unreadableError{err}
	}
	w := &Watched{Known: known, DownAfter: milliseconds(fields["down-after-milliseconds"]), FailoverTimeout: milliseconds(fields["failover-timeout"])}
	if w.Quorum, err = strconv.Atoi(fields["quorum"]); err != nil {
		return &unreadableError{err}
	}
	if w.Epoch, err = strconv.ParseInt(fields["config-epoch"], 10, 64); err != nil {
		return &unreadableError{err}
	}
	if w.Replicas, err = parseAll(replicas); err == nil {
		w.Sentinels, err = parseAll(sentinels)
	}
	if err != nil {
		return &unreadableError{err}
	}
	s.Watched = w
	return nil
}

func parseAll(value any) ([]Known, error) {
	list, _ := value.([]any)
	var all []Known
	for _, entry := range list {
		k, err := parseKnown(node.Pairs(entry))
		if err != nil {
			return nil, err
		}
		all = append(all, k)
	}
	return all, nil
}

func parseKnown(fields map[string]string) (Known, error) {
	port, err := strconv.Atoi(fields["port"])
	if err != nil {
		return Known{}, err
	}
	k := Known{Endpoint: Endpoint{fields["ip"], port}, ID: fields["runid"], Flags: strings.Split(fields["flags"], ",")}
	k.DownFor = milliseconds(fields["s-down-time"])
	k.Role, k.RoleFor = fields["role-reported"], milliseconds(fields["role-reported-time"])
	k.Priority, _ = strconv.Atoi(fields["slave-priority"])
	return k, nil
}

func milliseconds(text string) time.Duration {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	return time.Duration(n) * time.Millisecond
}
