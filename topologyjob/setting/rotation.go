// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package setting

import (
	"slices"
	"strings"

	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/acl"
)

// Stage is where a rotation of passwords is. Each stage but Idle says what is due; who
// does that and looks again comes to the next one, wherever it was stopped.
type Stage string

const (
	// Idle: each user has one password, and servers know no other.
	Idle Stage = "Idle"
	// Accepting: there is a next password that not every server takes: a rotate Job is due.
	Accepting Stage = "Accepting"
	// Accepted: every server takes the next password: it is to be made the current one.
	Accepted Stage = "Accepted"
	// Switching: there is a previous password, and not every server takes the current one
	// or has its links log in with it: a rotate Job is due.
	Switching Stage = "Switching"
	// Switched: nothing of ours needs the previous password. It is to be forgotten once
	// clients have had the time to follow.
	Switched Stage = "Switched"
	// Dropping: each user has one password, and a server knows others, or has its links log
	// in with one: a rotate Job is due.
	Dropping Stage = "Dropping"
)

// Held are the hashes of the passwords that Secrets hold for one user, "" where there is
// none.
type Held struct{ Current, Next, Previous string }

// heldPasswords reads the passwords of one user from the data of a Secret: their keys begin
// with stem, and that of the current one ends with suffix.
func heldPasswords(data map[string][]byte, user, stem, suffix string, into map[string]Held) {
	read := func(key string) string {
		// An empty one is none.
		hash, err := acl.Hash(data[key])
		if err != nil {
			return ""
		}
		return hash
	}
	if h := (Held{read(stem + suffix), read(stem + acl.NextSuffix), read(stem + acl.PreviousSuffix)}); h.Current != "" {
		into[user] = h
	}
}

// HeldBy are the passwords that the Secrets of a cluster hold: <cluster>-system, and that
// of the default user, whose key is authKey; auth is nil when it is no part of a rotation.
func HeldBy(system, auth map[string][]byte, authKey string) map[string]Held {
	held := map[string]Held{}
	for key := range system {
		if user, is := strings.CutSuffix(key, acl.CurrentSuffix); is {
			heldPasswords(system, user, user, acl.CurrentSuffix, held)
		}
	}
	if auth != nil {
		heldPasswords(auth, acl.DefaultUser, authKey, "", held)
	}
	return held
}

// Passwords are what one server said of passwords.
type Passwords struct {
	// Known says that it answered; the rest is empty else.
	Known bool
	// Logins are by user.
	Logins map[string]Login
	// Link is the hash of the password that it logs in at others with, "" without.
	Link string
	// LinkUp says that it is connected to its primary, or has none.
	LinkUp bool
}

// StageOf says where a rotation is, from what Secrets hold and from what every server
// said: data pods and sentinels.
func StageOf(held map[string]Held, servers []Passwords) Stage {
	// Who writes several Secrets may be stopped in between: some have what others lack.
	var next, previous, lacking bool
	for _, h := range held {
		next, previous = next || h.Next != "", previous || h.Previous != ""
		lacking = lacking || h.Next == ""
	}
	all := func(right func(Passwords) bool) bool {
		return !slices.ContainsFunc(servers, func(p Passwords) bool { return !p.Known || !right(p) })
	}
	switch {
	case previous:
		if !next && all(func(p Passwords) bool { return p.accepts(held, Held.current) && p.linked(held) }) {
			return Switched
		}
		return Switching
	case next:
		if !lacking && all(func(p Passwords) bool { return p.accepts(held, Held.current) && p.accepts(held, Held.next) }) {
			return Accepted
		}
		return Accepting
	case all(func(p Passwords) bool { return p.only(held) && p.linked(held) }):
		return Idle
	}
	return Dropping
}

func (h Held) current() string { return h.Current }

func (h Held) next() string { return h.Next }

// accepts reports whether every user that the server has may log in with a password.
// A user that it lacks is for the acl Job.
func (p Passwords) accepts(held map[string]Held, which func(Held) string) bool {
	for user, h := range held {
		login, there := p.Logins[user]
		if hash := which(h); there && hash != "" && !login.Nopass && !slices.Contains(login.Hashes, hash) {
			return false
		}
	}
	return true
}

// only reports whether no user has another password.
func (p Passwords) only(held map[string]Held) bool {
	for user, h := range held {
		login, there := p.Logins[user]
		if there && !login.Nopass && !slices.Equal(login.Hashes, []string{h.Current}) {
			return false
		}
	}
	return true
}

// linked reports whether the server logs in at others with the current password.
func (p Passwords) linked(held map[string]Held) bool {
	if p.Link == "" {
		return true
	}
	// Which of both it is, a server or a sentinel, the hash tells.
	return p.LinkUp && (p.Link == held[name.UserReplication].Current || p.Link == held[name.UserSentinel].Current)
}
