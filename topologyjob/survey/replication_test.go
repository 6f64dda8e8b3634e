// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/valkey-render/valkey-render/topologyjob/node"
)

// serverInfo is what INFO says besides its replication section.
const serverInfo = `# Server
redis_version:7.2.4
valkey_version:9.1.2
run_id:e2e73bbf371793b1f13d619ae10e00167941eb19
server_time_usec:1700000000123456
uptime_in_seconds:40
# Persistence
loading:0
rdb_last_bgsave_status:ok
aof_enabled:1
aof_last_write_status:err
# Keyspace
db0:keys=3,expires=0,avg_ttl=0
# Cluster
cluster_enabled:0
`

func TestReadOfAReplica(t *testing.T) {
	for _, test := range []struct {
		name, lines string
		up          bool
		offset      int64
		want        Replication
	}{
		{"in sync", "master_link_status:up\nmaster_last_io_seconds_ago:4\nmaster_sync_in_progress:0\nslave_repl_offset:900\n", true, 900, Replication{Linked: true, Silence: 4 * time.Second}},
		{"cut off", "master_link_status:down\nmaster_last_io_seconds_ago:-1\nmaster_sync_in_progress:0\nmaster_link_down_since_seconds:7\nslave_repl_offset:900\n", false, 900, Replication{Linked: true, Silence: 7 * time.Second}},
		{"never linked", "master_link_status:down\nmaster_last_io_seconds_ago:-1\nmaster_sync_in_progress:0\nmaster_link_down_since_seconds:-1\nslave_repl_offset:1\n", false, 1, Replication{Silence: 40 * time.Second}},
		{"taking a copy", "master_link_status:down\nmaster_last_io_seconds_ago:-1\nmaster_sync_in_progress:1\nmaster_link_down_since_seconds:0\nslave_repl_offset:1\n", false, 1, Replication{Syncing: true, Linked: true}},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := Answer{}
			err := a.Read(node.ParseInfo(serverInfo + "role:slave\nmaster_host:10.0.0.1\nmaster_port:6379\nslave_priority:7\nmaster_failover_state:no-failover\n" +
				"master_replid:aa\nmaster_replid2:0000000000000000000000000000000000000000\nmaster_repl_offset:900\nsecond_repl_offset:-1\n" + test.lines))
			if err != nil {
				t.Fatal(err)
			}
			want := test.want
			want.Follows, want.Priority, want.DiskError = Endpoint{"10.0.0.1", 6379}, 7, "aof_last_write_status:err"
			if diff := cmp.Diff(want, *a.Replication); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			if a.LinkUp != test.up || a.Offset != test.offset || a.Keys != 3 || a.ReplicationID != "aa" || a.Uptime != 40*time.Second || !a.Persists || a.ID[:4] != "e2e7" || a.Version != "9.1.2" {
				t.Errorf("%+v", a)
			}
		})
	}
}

const primaryInfo = serverInfo + `role:master
connected_slaves:2
slave0:ip=10.0.0.2,port=6379,state=online,offset=70,lag=1,type=replica
slave1:ip=fd00::3,port=6380,state=wait_bgsave,offset=0,lag=0,type=replica
master_failover_state:waiting-for-sync
master_replid:aa
master_replid2:bb
master_repl_offset:75
second_repl_offset:41
`

func TestReadOfAPrimary(t *testing.T) {
	a := Answer{}
	if err := a.Read(node.ParseInfo(primaryInfo)); err != nil {
		t.Fatal(err)
	}
	want := Replication{
		Primary: true, FormerID: "bb", FormerOffset: 40, Priority: 100, FailingOver: "waiting-for-sync", DiskError: "aof_last_write_status:err",
		Replicas: []Follower{{Endpoint{"10.0.0.2", 6379}, "online", 70}, {Endpoint{"fd00::3", 6380}, "wait_bgsave", 0}},
	}
	if diff := cmp.Diff(want, *a.Replication); diff != "" || a.Offset != 75 || a.LinkUp {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestReadRefusesWhatMakesNoSense(t *testing.T) {
	for _, broken := range []string{"run_id:", "slave1:ip=fd00::3,port=6380", "master_replid:", "master_repl_offset:", "uptime_in_seconds:", "cluster_enabled:0"} {
		a := Answer{}
		text := strings.Replace(primaryInfo, broken, "slave0:broken_", 1)
		if broken == "cluster_enabled:0" {
			text = strings.Replace(primaryInfo, broken, "cluster_enabled:1", 1)
		}
		if err := a.Read(node.ParseInfo(text)); err == nil {
			t.Errorf("without %s: %+v", broken, a.Replication)
		}
	}
}

func TestEndpointsLeadToPods(t *testing.T) {
	v := View{Answers: []Answer{
		{Pod: Pod{Name: "c-0-0", Host: "10.0.0.1", Port: 6379, ServerName: "c-0-0.c-nodes.shop.svc.cluster.local"}, Address: node.Address{IP: "10.0.0.1", Port: 6379}},
		{Pod: Pod{Name: "c-0-1", Host: "c-0-1.c-nodes.shop.svc.cluster.local.", Port: 6379}, Address: node.Address{IP: "10.0.0.2", Port: 6379}},
		{Pod: Pod{Name: "c-0-2", Host: "10.0.0.3", Port: 6379}, Address: node.Address{IP: "10.0.0.3", Port: 6379}, Replication: &Replication{Announced: Endpoint{"cache.example.org", 7000}}},
	}}
	for e, want := range map[Endpoint]string{
		{"10.0.0.1", 6379}: "c-0-0",
		{"10.0.0.1", 6380}: "",
		{"c-0-0.c-nodes.shop.svc.cluster.local", 6379}: "c-0-0",
		{"c-0-1.c-nodes.shop.svc.cluster.local", 6379}: "c-0-1",
		{"10.0.0.2", 6379}:          "c-0-1",
		{"cache.example.org", 7000}: "c-0-2",
		{"10.0.0.3", 6379}:          "c-0-2",
		{"127.0.0.1", 1}:            "",
		{"", 0}:                     "",
	} {
		got := ""
		if a := v.At(e); a != nil {
			got = a.Pod.Name
		}
		if got != want {
			t.Errorf("%s leads to %q, not %q", e, got, want)
		}
	}
	if got := v.Answers[2].Endpoint(); got != (Endpoint{"cache.example.org", 7000}) {
		t.Error(got)
	}
	if got := v.Answers[1].Endpoint(); got != (Endpoint{"10.0.0.2", 6379}) {
		t.Error(got)
	}
	if !(Endpoint{"::1", 1}).Fenced() || !(Endpoint{"127.0.0.1", 1}).Fenced() || (Endpoint{"127.0.0.1", 6379}).Fenced() {
		t.Error("fence")
	}
}

func TestASentinelThatWatches(t *testing.T) {
	var s Sentinel
	list := func(words ...string) []any {
		out := make([]any, len(words))
		for i, word := range words {
			out[i] = word
		}
		return out
	}
	err := s.watches(
		list("name", "mymaster", "ip", "10.0.0.1", "port", "6379", "runid", "r0", "flags", "s_down,o_down,master", "s-down-time", "1500", "role-reported", "master",
			"role-reported-time", "90000", "config-epoch", "4", "quorum", "2", "down-after-milliseconds", "5000", "failover-timeout", "60000"),
		[]any{list("ip", "10.0.0.2", "port", "6379", "runid", "r1", "flags", "slave", "slave-priority", "100")},
		[]any{list("ip", "10.0.1.1", "port", "26379", "runid", "s1", "flags", "sentinel")},
	)
	if err != nil {
		t.Fatal(err)
	}
	want := &Watched{
		Known:  Known{Endpoint: Endpoint{"10.0.0.1", 6379}, ID: "r0", Flags: []string{"s_down", "o_down", "master"}, DownFor: 1500 * time.Millisecond, Role: "master", RoleFor: 90 * time.Second},
		Quorum: 2, Epoch: 4, DownAfter: 5 * time.Second, FailoverTimeout: time.Minute,
		Replicas:  []Known{{Endpoint: Endpoint{"10.0.0.2", 6379}, ID: "r1", Flags: []string{"slave"}, Priority: 100}},
		Sentinels: []Known{{Endpoint: Endpoint{"10.0.1.1", 26379}, ID: "s1", Flags: []string{"sentinel"}}},
	}
	if diff := cmp.Diff(want, s.Watched); diff != "" || !s.Watched.Down() || s.Watched.Replicas[0].Down() {
		t.Errorf("-want +got\n%s", diff)
	}
	for _, broken := range []any{nil, list("port", "x"), list("port", "1"), list("port", "1", "quorum", "2")} {
		if err := s.watches(broken, nil, nil); err == nil {
			t.Errorf("%v was taken", broken)
		}
	}
}
