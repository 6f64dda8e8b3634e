// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package settle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/valkey-render/valkey-render/topologyjob/acl"
	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/setting"
)

func describe(c setting.Changes) string {
	var parts []string
	if len(c.Set) > 0 {
		var named []string
		for _, u := range c.Set {
			named = append(named, u.Name)
		}
		parts = append(parts, "ACL SETUSER "+strings.Join(named, ", "))
	}
	if len(c.Gone) > 0 {
		parts = append(parts, "ACL DELUSER "+strings.Join(c.Gone, ", "))
	}
	return strings.Join(parts, "; ")
}

// give makes the users of one pod what is wanted: others first, and we last.
func (a *access) give(ctx context.Context, o *other) error {
	err := a.on(ctx, o.pod, func(conn node.Conn) error {
		if err := a.giveAll(ctx, conn, o); err != nil {
			return errors.Join(err, restore(ctx, conn, o))
		}
		return a.kill(ctx, conn, o)
	})
	if err != nil {
		return err
	}
	return a.prove(ctx, o)
}

func (a *access) giveAll(ctx context.Context, conn node.Conn, o *other) error {
	last := slices.IndexFunc(o.changes.Set, func(u acl.User) bool { return u.Name == o.own })
	for i, u := range o.changes.Set {
		if i == last {
			continue
		}
		if err := setUser(ctx, conn, u); err != nil {
			return err
		}
	}
	if len(o.changes.Gone) > 0 {
		if err := node.Ask(ctx, conn, append([]string{"ACL", "DELUSER"}, o.changes.Gone...)...).Err; err != nil {
			return fmt.Errorf("ACL DELUSER: %w", err)
		}
	}
	if last < 0 {
		return nil
	}
	return a.giveUs(ctx, conn, o, o.changes.Set[last])
}

// setUser gives a user its rules, all at once: a server takes all of them or none.
func setUser(ctx context.Context, conn node.Conn, u acl.User) error {
	err := node.Ask(ctx, conn, append([]string{"ACL", "SETUSER", u.Name, "reset"}, u.Rules...)...).Err
	if words, refused := rejection(err); refused {
		return blocked(ACLRejected, "ACL SETUSER %s refused: %s", u.Name, words)
	}
	if err != nil {
		return fmt.Errorf("ACL SETUSER %s: %w", u.Name, err)
	}
	return nil
}

// restore makes the users of a pod those that it had: what is wrong with one has nothing
// to do with the others. Connections of deleted ones have ended all the same.
func restore(ctx context.Context, conn node.Conn, o *other) error {
	now, err := users(ctx, conn)
	if err != nil {
		return err
	}
	back := setting.UserChanges(o.observed, now, nil)
	var failed []error
	for _, u := range back.Set {
		failed = append(failed, setUser(ctx, conn, u))
	}
	if len(back.Gone) > 0 {
		if err := node.Ask(ctx, conn, append([]string{"ACL", "DELUSER"}, back.Gone...)...).Err; err != nil {
			failed = append(failed, fmt.Errorf("ACL DELUSER: %w", err))
		}
	}
	return errors.Join(failed...)
}

// giveUs changes the user that we are, and sees that another connection can still put
// everything right before this one is let go.
func (a *access) giveUs(ctx context.Context, conn node.Conn, o *other, u acl.User) error {
	if err := setUser(ctx, conn, u); err != nil {
		return err
	}
	err := a.again(ctx, o)
	if err == nil {
		return nil
	}
	if _, refused := errors.AsType[*node.RefusedError](err); refused {
		return blocked(ACLWouldLockOut, "user %s, as it is wanted, cannot go on: %w; taken back", u.Name, err)
	}
	// It may be one or not: nothing is left behind.
	return fmt.Errorf("logging in again as %s: %w", u.Name, err)
}

// again logs in once more and asks for what is needed to put right what would be wrong.
func (a *access) again(ctx context.Context, o *other) error {
	at, err := a.address(ctx, o.pod)
	if err != nil {
		return err
	}
	second, err := a.Pool.Dial(ctx, at)
	if err != nil {
		return err
	}
	defer second.Close()
	if who, err := node.Ask(ctx, second, "ACL", "WHOAMI").Text(); err != nil || who != o.own {
		return errors.Join(fmt.Errorf("ACL WHOAMI says %q", who), err)
	}
	// Its own line again, which is no change.
	if _, err := users(ctx, second); err != nil {
		return err
	}
	return node.Ask(ctx, second, "ACL", "SETUSER", o.own).Err
}

// kill ends the connections of those who lost a password. Ours go on.
func (a *access) kill(ctx context.Context, conn node.Conn, o *other) error {
	if !a.wanted.ClientKill {
		return nil
	}
	for _, name := range o.changes.Revoked {
		if strings.HasPrefix(name, "_") {
			continue
		}
		if err := node.Ask(ctx, conn, "CLIENT", "KILL", "USER", name).Err; err != nil {
			return fmt.Errorf("CLIENT KILL USER %s: %w", name, err)
		}
	}
	return nil
}
