// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package converge_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/valkey-render/valkey-render/internal/clustertest"
	"github.com/valkey-render/valkey-render/internal/servertest"
	"github.com/valkey-render/valkey-render/topologyjob/converge"
)

// What servers do of themselves, and the design relies on: see docs/testing.md.

// TestProcessSIGTERMEndsAPrimaryWithoutReplicas: with shutdown-on-sigterm failover, and not
// with safe beside it, which would leave every last primary to SIGKILL (F9).
func TestProcessSIGTERMEndsAPrimaryWithoutReplicas(t *testing.T) {
	t.Parallel()
	for words, ends := range map[string]bool{"failover": true, "failover safe": false} {
		t.Run(words, func(t *testing.T) {
			t.Parallel()
			s := servertest.Start(t, "9.1", servertest.Options{TCP: true, Conf: "shutdown-on-sigterm " + words + "\n", Args: []string{"--cluster-enabled", "yes"}})
			if _, err := s.Do("CLUSTER", "ADDSLOTSRANGE", "0", "16383"); err != nil {
				t.Fatal(err)
			}
			eventually(t, "the cluster is up", func() bool {
				text, err := s.Do("CLUSTER", "INFO")
				return err == nil && strings.Contains(text.(string), "cluster_state:ok")
			})
			if err := s.Process().Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			if !ends {
				eventually(t, "it refuses to end", func() bool { return strings.Contains(s.Log(), "an't exit") })
				return
			}
			select {
			case <-s.Exited():
			case <-time.After(time.Minute):
				t.Errorf("it does not end:\n%s", s.Log())
			}
		})
	}
}

// TestProcessDataOf9IsNotReadBefore: what 9.x has saved no 8.x loads, and what 8.1 has saved
// 8.0 does, so that going back is refused across 9.0 alone (F10).
func TestProcessDataOf9IsNotReadBefore(t *testing.T) {
	t.Parallel()
	for saved, read := range map[string]map[string]bool{"9.1": {"8.0": false, "8.1": false}, "8.1": {"8.0": true, "9.1": true}} {
		s := servertest.Start(t, saved, servertest.Options{})
		for _, words := range [][]string{{"SET", "k", "v"}, {"SAVE"}} {
			if _, err := s.Do(words...); err != nil {
				t.Fatal(err)
			}
		}
		dump, err := os.ReadFile(filepath.Join(s.Dir, "dump.rdb"))
		if err != nil {
			t.Fatal(err)
		}
		for version, loads := range read {
			err := servertest.Try(servertest.Dir(t), version, servertest.Options{Files: map[string]string{"dump.rdb": string(dump)}})
			refused, ok := errors.AsType[*servertest.RefusedError](err)
			if loads && err != nil || !loads && (!ok || !strings.Contains(refused.Output, "Fatal error loading the DB")) {
				t.Errorf("%s with data of %s: %v", version, saved, err)
			}
		}
	}
}

// TestProcessSlotsDoNotMigrateToAReplica: the command is taken and fails later, so the
// primary is looked up right before it, and the end of a migration is read (F28).
func TestProcessSlotsDoNotMigrateToAReplica(t *testing.T) {
	t.Parallel()
	c := clustertest.New(t, "9.1", 2, 1)
	formed(t, c, converge.Bootstrap)
	from := c.Pod(0, 0)
	command(t, from, "CLUSTER", "MIGRATESLOTS", "SLOTSRANGE", "0", "0", "NODE", c.Pod(1, 1).ID())
	eventually(t, "it has failed", func() bool {
		reply, err := from.Server.Do("CLUSTER", "GETSLOTMIGRATIONS")
		return err == nil && strings.Contains(fmt.Sprint(reply), "failed")
	})
	v := view(t, c)
	if !v.Owners().Slots[from.ID()].Contains(0) {
		t.Error("the slot has another owner")
	}
}
