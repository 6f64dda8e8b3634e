// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/valkey-render/valkey-render/topologyjob/slot"
)

func TestParseInfo(t *testing.T) {
	info := ParseInfo("# Server\r\nredis_version:7.2.4\r\nvalkey_version:9.1.2\r\n\r\n# Keyspace\r\ndb0:keys=5,expires=0,avg_ttl=0\r\ndb15:keys=2,expires=0\r\nlistener0:name=tcp,bind=*,bind=-::*,port=27100\r\n")
	if keys, err := info.Keys(); keys != 7 || err != nil {
		t.Errorf("%d keys, %v", keys, err)
	}
	if info.Version() != "9.1.2" || info["listener0"] != "name=tcp,bind=*,bind=-::*,port=27100" || len(info) != 5 {
		t.Errorf("%v", info)
	}
	if v := ParseInfo("redis_version:7.2.4").Version(); v != "7.2.4" {
		t.Errorf("version %s", v)
	}
	if n, err := ParseInfo("a:5\n").Int("a"); n != 5 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	for _, text := range []string{"", "a:", "a:x", "a:1.5"} {
		if n, err := ParseInfo(text).Int("a"); err == nil {
			t.Errorf("%q: %d", text, n)
		}
	}
	for _, text := range []string{"db0:", "db0:keys=,", "db0:keys=-1", "db0:expires=1"} {
		if n, err := ParseInfo(text).Keys(); err == nil {
			t.Errorf("%q: %d keys", text, n)
		}
	}
}

func FuzzParseInfo(f *testing.F) {
	f.Add("# Keyspace\r\ndb0:keys=5,expires=0,avg_ttl=0\r\n")
	f.Add("cluster_state:ok\r\ncluster_current_epoch:6\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		info := ParseInfo(text)
		if keys, err := info.Keys(); err == nil && keys < 0 && len(info) < 2 {
			t.Errorf("%q: %d keys", text, keys)
		}
		for name := range info {
			if name == "" {
				t.Errorf("%q: a value without a name", text)
			}
		}
	})
}

func TestParseMigrations(t *testing.T) {
	fields := []any{
		"name", "one", "operation", "EXPORT", "slot_ranges", "0-99 200-299", "target_node", b, "source_node", a,
		"create_time", int64(1), "state", "failed", "message", "Connection lost", "cow_size", int64(0),
	}
	asMap := map[string]any{}
	for i := 0; i < len(fields); i += 2 {
		asMap[fields[i].(string)] = fields[i+1]
	}
	want := []Migration{{
		Name: "one", Source: a, Target: b, Slots: slot.Ranges{{First: 0, Last: 99}, {First: 200, Last: 299}}, State: "failed", Message: "Connection lost",
	}}
	for _, reply := range []any{[]any{fields}, []any{asMap}} {
		got, err := ParseMigrations(reply)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%v\n%s", err, diff)
		}
	}
	if got, err := ParseMigrations(nil); len(got) != 0 || err != nil {
		t.Errorf("%v, %v", got, err)
	}
	for _, reply := range []any{"text", []any{"text"}, []any{[]any{"name"}}, []any{[]any{"name", "one"}}, []any{[]any{"name", "one", "state", "x", "slot_ranges", "0-x"}}} {
		if got, err := ParseMigrations(reply); err == nil {
			t.Errorf("%v: %v", reply, got)
		}
	}
}

func TestMigrationsEnd(t *testing.T) {
	for state, want := range map[string]bool{
		"success": true, "failed": true, "canceled": true, "cancelled": true,
		"connecting": false, "snapshotting": false, "failover-paused": false, "": false,
	} {
		if (Migration{State: state}).Ended() != want {
			t.Errorf("%s: %v", state, !want)
		}
	}
}

func FuzzParseMigrations(f *testing.F) {
	f.Add("one", "0-99 200-299", "success")
	f.Fuzz(func(t *testing.T, name, slots, state string) {
		got, err := ParseMigrations([]any{[]any{"name", name, "slot_ranges", slots, "state", state}})
		if err == nil && (len(got) != 1 || got[0].Name != name || got[0].Slots.Count() > 16384) {
			t.Errorf("%q %q: %+v", name, slots, got)
		}
	})
}

func TestChanges(t *testing.T) {
	for _, reads := range []Command{
		Cmd("PING"), Cmd("cluster", "nodes"), Cmd("INFO", "server"), Cmd("CONFIG", "GET", "save"), Cmd("ROLE"), Cmd("CLUSTER", "GETSLOTMIGRATIONS"), nil,
	} {
		if reads.Changes() {
			t.Errorf("%s changes something", reads)
		}
	}
	for _, writes := range []Command{
		Cmd("CLUSTER", "MEET", "::1", "1"), Cmd("CLUSTER", "FORGET", a), Cmd("CONFIG", "SET", "save", ""), Cmd("CLIENT", "PAUSE", "1"), Cmd("SET", "a", "b"), Cmd("NEW", "THING"),
	} {
		if !writes.Changes() {
			t.Errorf("%s changes nothing", writes)
		}
	}
}

func TestCommandsTellNoSecret(t *testing.T) {
	for _, command := range []Command{
		Cmd("AUTH", "user", "hunter2"), Cmd("ACL", "SETUSER", "app", ">hunter2"), Cmd("CONFIG", "SET", "primaryauth", "hunter2"),
		Cmd("CONFIG", "SET", "requirepass", "hunter2"), Cmd("MIGRATE", "h", "1", "", "0", "5", "AUTH2", "user", "hunter2", "KEYS", "a"),
	} {
		if text := command.String(); len(text) < 4 || strings.Contains(text, "hunter2") {
			t.Errorf("%s", text)
		}
	}
}

func TestRefusedCode(t *testing.T) {
	for words, want := range map[string]string{"LOADING x": "LOADING", "Unknown node a": "ERR", "": "ERR", "unknown": "ERR", "WRONGPASS invalid": "WRONGPASS"} {
		if got := (&RefusedError{Words: words}).Code(); got != want {
			t.Errorf("%q: %s", words, got)
		}
	}
}
