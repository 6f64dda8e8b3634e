// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package acl_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/internal/servertest"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/acl"
)

// ledger is what users were seen to send, and what they may, by "user on data servers".
type ledger struct {
	mu          sync.Mutex
	sent, rules map[string][]string
}

// add takes over what was seen on a stage. What a version alone has in its rules has to be
// sent there; who watches and who is watched may be of two versions for a while.
func (l *ledger) add(s *stage) {
	s.t.Helper()
	data, err := acl.DataUsers(s.version, s.input(password))
	must(s.t, err)
	sentinel, err := acl.SentinelUsers(s.version, s.input(password))
	must(s.t, err)
	must(s.t, s.records.Data.Err())
	must(s.t, s.records.Sentinels.Err())
	l.mu.Lock()
	defer l.mu.Unlock()
	note := func(where string, users []acl.User, record *servertest.Recorder) {
		for _, u := range users {
			if u.Name == acl.DefaultUser {
				continue
			}
			key := fmt.Sprintf("%s on %s of %s", u.Name, where, s.version)
			if u.Name == name.UserSentinel {
				key = fmt.Sprintf("%s on %s", u.Name, where)
			}
			l.rules[key] = u.Rules
			l.sent[key] = append(l.sent[key], record.Sent(u.Name)...)
		}
	}
	note("data servers", data, s.records.Data)
	if s.topology == v1alpha1.TopologySentinel {
		note("sentinels", sentinel, s.records.Sentinels)
	}
}

// exempt says why a rule is there about which no run needs anything; without "+".
func exempt(key, rule string) string {
	if strings.Contains(key, "on sentinels") && strings.HasPrefix(key, name.UserOperator) && rule == "acl|log" {
		return "people: no other user of a sentinel sees what was refused"
	}
	return ""
}

// category says why a rule is about a category, and what of it has to be sent.
func category(rule string) (why string, one []string) {
	if rule == "@write" {
		return "a move of slots replays what clients write, whatever that is", []string{"set"}
	}
	return "", nil
}

func (l *ledger) check(t *testing.T) {
	for key, rules := range l.rules {
		sent := slices.Compact(slices.Sorted(slices.Values(l.sent[key])))
		t.Logf("%s sent %s", key, strings.Join(sent, " "))
		for _, rule := range rules {
			if why := unneeded(rule, sent); why != "" && exempt(key, rule[1:]) == "" {
				t.Errorf("%s: %s %s", key, rule, why)
			}
		}
		for _, command := range sent {
			if !granted(rules, command) {
				t.Errorf("%s: sent %s, which is in no rule", key, command)
			}
		}
	}
}

// unneeded says what is wrong with a rule, given what was sent.
func unneeded(rule string, sent []string) string {
	among := func(commands ...string) string {
		if slices.ContainsFunc(commands, func(c string) bool { return slices.Contains(sent, c) }) {
			return ""
		}
		return "is for nothing that was sent"
	}
	switch {
	case rule == "~*":
		return among("migrate", "restore-asking", "dump", "exists", "set")
	case rule[0] == '&':
		return among("publish", "subscribe")
	case strings.HasPrefix(rule, "+@"):
		why, one := category(rule[1:])
		if why == "" {
			return "is about a category"
		}
		return among(one...)
	case rule[0] == '+':
		if slices.ContainsFunc(sent, func(c string) bool { return strings.HasPrefix(c, rule[1:]+"|") }) {
			return "is about all subcommands"
		}
		return among(rule[1:])
	}
	// Logins, and what takes away.
	return ""
}

// granted reports whether a user may send a command.
func granted(rules []string, command string) bool {
	switch command {
	case "auth", "hello", "quit", "reset":
		return true // everybody may
	case "set":
		return slices.Contains(rules, "+@write") || slices.Contains(rules, "+set")
	}
	return slices.Contains(rules, "+"+command)
}
