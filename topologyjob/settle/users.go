// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package settle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/valkey-render/valkey-render/topologyjob/acl"
	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/setting"
)

// Reasons of a Report about users.
const (
	// ACLRejected: a server refused a rule.
	ACLRejected = "ACLRejected"
	// ACLNotKept: a server took a user's rules and shows another login.
	ACLNotKept = "ACLNotKept"
	// ACLWouldLockOut: with what is wanted we could not log in any more.
	ACLWouldLockOut = "ACLWouldLockOut"
)

// Users says who there is to be, by minor version.
type Users struct {
	// Data and Sentinel are the users of data pods and of sentinels.
	Data, Sentinel map[string][]acl.User
	// Login is who we log in as.
	Login func() (node.Login, error)
	// ClientKill ends the connections of users who lose a password or may log in no
	// more, as far as this run takes it from them.
	ClientKill bool
}

// of are the users of a server; false when there is no file for it.
func (u Users) of(s *subject) ([]acl.User, bool) {
	files := u.Data
	if s.pod.Sentinel {
		files = u.Sentinel
	}
	users, there := files[s.version]
	return users, there
}

// ACL makes the users of every server those of the file of its version, without a file:
// ACL LOAD ends an 8.0 replica.
func ACL(ctx context.Context, o Options, wanted Users) Report {
	a := newAccess(newRun(o, func(Pod) bool { return true }), wanted)
	return a.loop(ctx, a.pass)
}

// access sets users.
type access struct {
	*run
	wanted Users
	// widen keeps passwords that are in no file, and users too.
	widen bool

	formsMu sync.Mutex
	// forms are normal forms of what servers made of a user's rules when they were set.
	forms map[string]string
}

func newAccess(r *run, wanted Users) *access {
	return &access{run: r, wanted: wanted, forms: map[string]string{}}
}

// other is a pod with other users.
type other struct {
	subject
	// own is who we are there.
	own      string
	observed []acl.User
	changes  setting.Changes
}

func (a *access) pass(ctx context.Context) error {
	found := make([]*other, len(a.pods))
	asked := a.each(ctx, a.pods, func(ctx context.Context, p Pod) error {
		o, err := a.look(ctx, p)
		found[slices.Index(a.pods, p)] = o
		return err
	})
	if _, stuck := errors.AsType[*BlockedError](asked); stuck {
		return asked
	}
	var due []*other
	for _, o := range found {
		switch {
		case o == nil || o.changes.Empty():
		case a.DryRun:
			a.would("%s on %s", describe(o.changes), o.pod.Name)
		default:
			due = append(due, o)
		}
	}
	return errors.Join(inTurn(ctx, a.run, due, a.give), asked)
}

// look is how the users of a pod differ from what is wanted. That they would lock us out
// is seen before anything is changed anywhere.
func (a *access) look(ctx context.Context, p Pod) (*other, error) {
	o := &other{subject: subject{pod: p}}
	return o, a.on(ctx, p, func(conn node.Conn) error {
		about, err := info(ctx, conn, "server", "replication")
		if err != nil {
			return err
		}
		o.version, o.replica = minor(about), about["role"] == "slave"
		wanted, there := a.wanted.of(&o.subject)
		if !there {
			return blocked(VersionUnknown, "runs Valkey %s, and there is no ACL file for it", about.Version())
		}
		if o.own, err = node.Ask(ctx, conn, "ACL", "WHOAMI").Text(); err != nil {
			return fmt.Errorf("ACL WHOAMI: %w", err)
		}
		if err := a.keepsUs(o.own, wanted); err != nil {
			return err
		}
		if o.observed, err = users(ctx, conn); err != nil {
			return err
		}
		if a.widen {
			wanted = setting.Widened(wanted, o.observed)
		}
		o.changes = setting.UserChanges(wanted, o.observed, a.same)
		if a.widen {
			o.changes.Gone = nil
		}
		return nil
	})
}

// users are those that a server has.
func users(ctx context.Context, conn node.Conn) ([]acl.User, error) {
	reply := node.Ask(ctx, conn, "ACL", "LIST")
	if reply.Err != nil {
		return nil, fmt.Errorf("ACL LIST: %w", reply.Err)
	}
	list, _ := reply.Value.([]any)
	var text strings.Builder
	for _, line := range list {
		fmt.Fprintln(&text, line)
	}
	found, err := setting.ParseUsers(text.String())
	if err != nil {
		return nil, fmt.Errorf("ACL LIST: %w", err)
	}
	return found, nil
}

// keepsUs returns an error when we could not log in any more.
func (a *access) keepsUs(own string, wanted []acl.User) error {
	login, err := a.wanted.Login()
	if err != nil {
		return err
	}
	i := slices.IndexFunc(wanted, func(u acl.User) bool { return u.Name == own })
	if i < 0 {
		return blocked(ACLWouldLockOut, "the users that are wanted are without %s, who this is done as", own)
	}
	switch {
	case !setting.LoginOf(wanted[i]).Accepts(login.Passwords...):
		return blocked(ACLWouldLockOut, "user %s would not take any of the passwords given here", own)
	case !setting.SetsUsers(wanted[i]):
		return blocked(ACLWouldLockOut, "user %s could not take back what it is given", own)
	}
	return nil
}

// same is for what the server writes in a form of its own.
func (a *access) same(wanted, observed acl.User) bool {
	a.formsMu.Lock()
	defer a.formsMu.Unlock()
	form, known := a.forms[wanted.Line()]
	return known && form == setting.Normal(observed)
}

// prove reads back. What a server shows in another form than ours is taken for what it
// was given, as long as logins are the same.
func (a *access) prove(ctx context.Context, o *other) error {
	after, err := a.look(ctx, o.pod)
	if err != nil {
		return err
	}
	for _, u := range after.changes.Set {
		i := slices.IndexFunc(after.observed, func(b acl.User) bool { return b.Name == u.Name })
		if i < 0 || !setting.LoginOf(after.observed[i]).Equal(setting.LoginOf(u)) {
			return blocked(ACLNotKept, "ACL SETUSER %s taken, and ACL LIST shows another login", u.Name)
		}
		a.formsMu.Lock()
		a.forms[u.Line()] = setting.Normal(after.observed[i])
		a.formsMu.Unlock()
	}
	a.count("changed")
	a.say("%s: %s", o.pod.Name, describe(o.changes))
	return nil
}
