// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package step

import (
	"errors"
	"io/fs"
	"testing"
	"testing/synctest"

	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/plan"
	"github.com/valkey-render/valkey-render/topologyjob/plan/replication"
)

// TestSentinelsKeepWhatTheyWatchWithoutALogin: they are told nothing when what they log in with
// cannot be read.
func TestSentinelsKeepWhatTheyWatchWithoutALogin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := scene{}
		e := s.env("c-0-0")
		e.answers["c-0-0"].Pod.Port = 6380 // not what the sentinel watches
		e.SentinelLogin = func() (node.Login, error) { return node.Login{}, fs.ErrNotExist }
		err := e.watch(t.Context(), replication.Watch{Primary: s.at("c-0-0"), Quorum: 2, Sentinels: []plan.Ref{s.at("sentinel")}})
		if !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
		s.expect(t)
	})
}
