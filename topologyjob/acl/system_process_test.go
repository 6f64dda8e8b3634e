// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package acl

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/internal/servertest"
	"github.com/valkey-render/valkey-render/render/name"
)

// startNode starts a data server with the text of its version, whose replication
// logs in as the system user.
func startNode(t *testing.T, version string, topology v1alpha1.Topology, args ...string) *servertest.Server {
	t.Helper()
	text, err := Text(version, inputOf(t, topology))
	if err != nil {
		t.Fatal(err)
	}
	opts := servertest.Options{
		TCP:   true,
		Files: map[string]string{"users.acl": text},
		Args:  append([]string{"--aclfile", "users.acl", "--primaryuser", name.UserReplication, "--primaryauth", password}, args...),
	}
	if topology == v1alpha1.TopologyCluster {
		opts.Args = append(opts.Args, "--cluster-enabled", "yes", "--cluster-node-timeout", "2000", "--repl-diskless-sync-delay", "0",
			"--cluster-allow-replica-migration", "no")
	}
	return servertest.Start(t, version, opts)
}

// eventually waits for what check returns nothing about.
func eventually(t *testing.T, what string, check func() string) {
	t.Helper()
	var last string
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if last = check(); last == "" {
			return
		}
	}
	t.Fatalf("%s: %s", what, last)
}

// do runs a command that must succeed.
func do(t *testing.T, client *servertest.Client, command ...string) string {
	t.Helper()
	reply, err := client.Do(command...)
	if err != nil {
		t.Fatalf("%s: %v", strings.Join(command, " "), err)
	}
	return fmt.Sprint(reply)
}

func infoField(info, key string) string {
	_, rest, _ := strings.Cut(info, "\n"+key+":")
	value, _, _ := strings.Cut(rest, "\r\n")
	return value
}

// wantNoDenials fails for every entry of ACL LOG: something of ours was refused.
func wantNoDenials(t *testing.T, who string, client *servertest.Client) {
	t.Helper()
	reply, err := client.Do("ACL", "LOG")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range reply.([]any) {
		t.Errorf("%s refused: %v", who, entry)
	}
}

// TestProcessReplicationUserIsEnough replicates as _replication, over one and two
// channels.
func TestProcessReplicationUserIsEnough(t *testing.T) {
	t.Parallel()
	for _, version := range servertest.Versions() {
		for _, dual := range []string{"no", "yes"} {
			t.Run(version+"/dual="+dual, func(t *testing.T) {
				t.Parallel()
				args := []string{"--dual-channel-replication-enabled", dual, "--repl-diskless-sync-delay", "0"}
				primary := startNode(t, version, v1alpha1.TopologyReplication, args...)
				replica := startNode(t, version, v1alpha1.TopologyReplication, args...)
				do(t, dialAs(t, primary, DefaultUser), "SET", "k", "v")
				operator := dialAs(t, replica, name.UserOperator)
				do(t, operator, "REPLICAOF", "127.0.0.1", strconv.Itoa(primary.Port))
				eventually(t, "link", func() string {
					if info := do(t, operator, "INFO", "replication"); infoField(info, "master_link_status") != "up" {
						return info
					}
					return ""
				})
				// The handover of preStop.
				old := dialAs(t, primary, name.UserOperator)
				eventually(t, "FAILOVER", func() string {
					_, err := old.Do("FAILOVER", "TO", "127.0.0.1", strconv.Itoa(replica.Port), "TIMEOUT", "5000")
					return words(err)
				})
				eventually(t, "handover", func() string {
					return lacks(do(t, operator, "INFO", "replication"), "role:master")
				})
				wantNoDenials(t, "primary", dialAs(t, primary, DefaultUser))
				wantNoDenials(t, "replica", dialAs(t, replica, DefaultUser))
			})
		}
	}
}

// TestProcessOperatorRunsEveryStep forms a cluster, moves a slot with its key the
// old way, adds a replica, hands over and takes everything apart again, as
// _operator alone.
func TestProcessOperatorRunsEveryStep(t *testing.T) {
	t.Parallel()
	for _, version := range servertest.Versions() {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			a, b := startNode(t, version, v1alpha1.TopologyCluster), startNode(t, version, v1alpha1.TopologyCluster)
			first, second := dialAs(t, a, name.UserOperator), dialAs(t, b, name.UserOperator)
			idA, idB := do(t, first, "CLUSTER", "MYID"), do(t, second, "CLUSTER", "MYID")
			do(t, first, "CLUSTER", "SET-CONFIG-EPOCH", "1")
			do(t, second, "CLUSTER", "SET-CONFIG-EPOCH", "2")
			do(t, first, "CLUSTER", "ADDSLOTSRANGE", "0", "16383")
			do(t, first, "CLUSTER", "MEET", "127.0.0.1", strconv.Itoa(b.Port))
			eventually(t, "meeting", func() string { return lacks(do(t, second, "CLUSTER", "NODES"), idA+" ", " 0-16383") })
			for _, node := range []*servertest.Client{first, second} {
				eventually(t, "state", func() string { return lacks(do(t, node, "CLUSTER", "INFO"), "cluster_state:ok") })
			}
			do(t, dialAs(t, a, DefaultUser), "SET", "{x}", "v")
			moveSlot(t, first, second, idA, idB, strconv.Itoa(b.Port))
			moveSlot(t, second, first, idB, idA, strconv.Itoa(a.Port))
			for _, command := range []string{
				"CLUSTER COUNTKEYSINSLOT 1", "INFO", "SELECT 0", "SCAN 0", "EXISTS {x}", "CONFIG GET maxmemory", "CONFIG SET maxmemory 1gb",
				"CLIENT KILL USER nobody",
				"ACL SETUSER temp reset", "ACL LIST", "ACL WHOAMI", "ACL DELUSER temp",
			} {
				// CLIENT KILL of a user that is not there says so, which is no denial.
				if _, err := first.Do(strings.Fields(command)...); err != nil && strings.HasPrefix(err.Error(), "NOPERM") {
					t.Errorf("%s: %v", command, err)
				}
			}
			if version >= "9.0" {
				do(t, first, "CLUSTER", "GETSLOTMIGRATIONS")
			}
			addReplicaAndHandOver(t, first, second, idA)
			wantNoDenials(t, "first", dialAs(t, a, DefaultUser))
			wantNoDenials(t, "second", dialAs(t, b, DefaultUser))
		})
	}
}

// lacks says which of the parts text does not hold.
func lacks(text string, parts ...string) string {
	for _, part := range parts {
		if !strings.Contains(text, part) {
			return fmt.Sprintf("no %q in %s", part, text)
		}
	}
	return ""
}

// moveSlot moves the slot of {x} from the first node to the second with MIGRATE,
// which logs in there as _operator.
func moveSlot(t *testing.T, first, second *servertest.Client, idA, idB, port string) {
	t.Helper()
	const slot = "16287" // of {x}
	do(t, second, "CLUSTER", "SETSLOT", slot, "IMPORTING", idA)
	do(t, first, "CLUSTER", "SETSLOT", slot, "MIGRATING", idB)
	if keys := do(t, first, "CLUSTER", "GETKEYSINSLOT", slot, "10"); keys != "[{x}]" {
		t.Fatalf("keys in slot %s: %s", slot, keys)
	}
	do(t, first, "MIGRATE", "127.0.0.1", port, "", "0", "2000", "AUTH2", name.UserOperator, password, "KEYS", "{x}")
	do(t, second, "CLUSTER", "SETSLOT", slot, "NODE", idB)
	do(t, first, "CLUSTER", "SETSLOT", slot, "NODE", idB)
	if count := do(t, second, "CLUSTER", "COUNTKEYSINSLOT", slot); count != "1" {
		t.Errorf("%s keys came along", count)
	}
}

// addReplicaAndHandOver makes the second node, which has no slot any more, a
// replica of the first, lets it take over, and takes the first one away.
func addReplicaAndHandOver(t *testing.T, first, second *servertest.Client, idA string) {
	t.Helper()
	eventually(t, "REPLICATE", func() string {
		_, err := second.Do("CLUSTER", "REPLICATE", idA)
		return words(err)
	})
	eventually(t, "link", func() string { return lacks(do(t, second, "INFO", "replication"), "master_link_status:up") })
	eventually(t, "takeover", func() string {
		if _, err := second.Do("CLUSTER", "FAILOVER"); err != nil {
			return words(err)
		}
		// An attempt that finds no majority yet is over without a word.
		var role string
		for range 30 {
			if role = lacks(do(t, second, "INFO", "replication"), "role:master"); role == "" {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
		return role
	})
	eventually(t, "demotion", func() string { return lacks(do(t, first, "INFO", "replication"), "role:slave") })
	do(t, second, "CLUSTER", "FORGET", idA)
	do(t, second, "FLUSHALL", "ASYNC")
}

func words(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
