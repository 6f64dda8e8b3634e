// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package step

import (
	"context"
	"strings"
	"time"

	"github.com/valkey-render/valkey-render/topologyjob/plan"
	"github.com/valkey-render/valkey-render/topologyjob/plan/replication"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// elect makes a server the primary, once more making sure that there is no other: no pod
// that did not answer does, none that did is one by now or has gone further, and the server
// does not hear from one.
func (e Env) elect(ctx context.Context, s replication.Elect) error {
	p, now, err := e.server(ctx, s.Server)
	if err != nil {
		return err
	}
	planned := e.answers[s.Server.Pod]
	switch r := now.Replication; {
	case r.Primary:
		return nil
	case s.Forming && !replication.Empty(&now):
		return &RacedError{Pod: s.Server.Pod, What: "holds keys by now"}
	case now.ReplicationID != planned.ReplicationID:
		return &RacedError{Pod: s.Server.Pod, What: "has another history by now"}
	case e.hears(&now, planned, s.Detection):
		return &RacedError{Pod: s.Server.Pod, What: "is in sync with " + r.Follows.String()}
	}
	for _, pod := range s.Away {
		if err := e.silent(ctx, pod); err != nil {
			return err
		}
	}
	err = each(s.Others, func(r plan.Ref) error {
		_, other, err := e.server(ctx, r)
		switch {
		case err != nil:
			return err
		case other.Replication.Primary:
			return &RacedError{Pod: r.Pod, What: "is a primary by now"}
		case s.Forming && !replication.Empty(&other):
			return &RacedError{Pod: r.Pod, What: "holds keys by now"}
		case other.Offset != e.answers[r.Pod].Offset:
			return &RacedError{Pod: r.Pod, What: "has gone further by now"}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := e.do(ctx, p, "REPLICAOF", "NO", "ONE"); err != nil {
		return err
	}
	return e.until(ctx, p, "is the primary", func(ctx context.Context) (bool, error) {
		now, err := e.now(ctx, p)
		return err == nil && now.Replication.Primary, err
	})
}

// hears is whether a replica has a link to somebody who may be a primary. One that is up
// and silent is that of a primary that hangs, or of a machine that is gone.
func (e Env) hears(now, planned *survey.Answer, detection time.Duration) bool {
	if !now.LinkUp || now.Replication.Silence >= detection {
		return false
	}
	for _, a := range e.answers {
		if a.Answered() && a.Names(now.Replication.Follows) {
			return !planned.LinkUp // it is one of the others, which are asked
		}
	}
	return true
}

// follow makes a server replicate the primary, which deletes what it holds. So by what both
// say now that must still be part of what the primary has, or nothing. A primary takes no
// writes meanwhile.
func (e Env) follow(ctx context.Context, s replication.Attach, r plan.Ref) error {
	_, primary, err := e.server(ctx, s.Primary)
	if err != nil {
		return err
	}
	if !primary.Replication.Primary {
		return &RacedError{Pod: s.Primary.Pod, What: "is no primary any more"}
	}
	p, now, err := e.server(ctx, r)
	if err != nil {
		return err
	}
	act := func(now survey.Answer) error {
		switch {
		case now.Replication.Primary != e.answers[r.Pod].Replication.Primary:
			return &RacedError{Pod: r.Pod, What: "changed its role"}
		case !s.Chosen && !replication.Yields(&now, &primary) && !replication.Replaces(&primary, &now):
			return &RacedError{Pod: r.Pod, What: "holds other data by now"}
		}
		return e.replicate(ctx, p, primary.Endpoint())
	}
	switch {
	case !now.Replication.Primary && primary.Names(now.Replication.Follows):
		return nil
	case now.Replication.Primary:
		return e.quiet(ctx, p, e.Patience, act)
	}
	return act(now)
}

// fence makes an empty primary follow nobody that exists.
func (e Env) fence(ctx context.Context, s replication.Fence) error {
	p, now, err := e.server(ctx, s.Server)
	if err != nil {
		return err
	}
	to := survey.Endpoint{Host: "127.0.0.1", Port: 1}
	if strings.Contains(p.address.IP, ":") {
		to.Host = "::1"
	}
	if !now.Replication.Primary {
		return nil
	}
	return e.quiet(ctx, p, e.Patience, func(now survey.Answer) error {
		if !now.Replication.Primary || !replication.Empty(&now) {
			return &RacedError{Pod: s.Server.Pod, What: "is no empty primary any more"}
		}
		return e.replicate(ctx, p, to)
	})
}
