// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package step

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/plan/replication"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// TestNobodyIsElectedBesideAPodThatIsBack at an address that the Job was not told of, when it has
// a name that leads there. Elsewhere nobody is found, and somebody is elected.
func TestNobodyIsElectedBesideAPodThatIsBack(t *testing.T) {
	const serverName = "c-0-0.c-nodes.ns.svc"
	found := func(_ context.Context, name string) (string, error) {
		if name != serverName {
			return "", errors.New("asked for " + name)
		}
		return "10.0.0.9", nil
	}
	for name, c := range map[string]struct {
		address, serverName string
		find                func(context.Context, string) (string, error)
		answers             bool
		raced               bool
	}{
		"it had no address":       {"", serverName, found, true, true},
		"it had another address":  {"10.0.0.1", serverName, found, true, true},
		"it has that address":     {"10.0.0.9", serverName, found, false, false},
		"it does not answer yet":  {"", serverName, found, false, false},
		"it has no name":          {"", "", found, true, false},
		"names are not looked up": {"", serverName, nil, true, false},
		"it is nowhere":           {"", serverName, func(context.Context, string) (string, error) { return "", errors.New("no such host") }, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := scene{on: func(_ context.Context, pod string, _ node.Command) error {
					if pod == "10.0.0.1" || pod == "10.0.0.9" && !c.answers {
						return errors.New("connection refused")
					}
					return nil
				}}
				e := s.env("c-0-1")
				e.Find = c.find
				e.answers["c-0-1"].LinkUp, e.answers["c-0-1"].ReplicationID = true, "aa"
				e.answers["c-0-0"] = &survey.Answer{
					Pod: survey.Pod{Name: "c-0-0", Port: 6379, ServerName: c.serverName}, Address: node.Address{IP: c.address, Port: 6379},
					Problem: &survey.Problem{Code: survey.Unresolved},
				}
				err := e.elect(t.Context(), replication.Elect{Server: s.at("c-0-1"), Away: []string{"c-0-0"}})
				raced, ok := errors.AsType[*RacedError](err)
				if ok != c.raced || ok && raced.IP != "10.0.0.9" {
					t.Error(err)
				}
				if !c.raced {
					s.expect(t, "0s c-0-1 REPLICAOF NO ONE")
					return
				}
				s.expect(t)
			})
		})
	}
}
