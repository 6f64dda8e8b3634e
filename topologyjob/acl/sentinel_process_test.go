// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package acl

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/internal/servertest"
	"github.com/valkey-render/valkey-render/render/name"
)

// TestProcessSentinelUserIsEnough lets three sentinels find each other, fail over
// when asked, and fail over by themselves when the primary is killed. Nothing
// that a sentinel sends may be refused.
func TestProcessSentinelUserIsEnough(t *testing.T) {
	t.Parallel()
	for _, version := range servertest.Versions() {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			primary := startNode(t, version, v1alpha1.TopologySentinel)
			replicas := []*servertest.Server{
				startNode(t, version, v1alpha1.TopologySentinel, "--replicaof", "127.0.0.1", strconv.Itoa(primary.Port)),
				startNode(t, version, v1alpha1.TopologySentinel, "--replicaof", "127.0.0.1", strconv.Itoa(primary.Port)),
			}
			var sentinels []*servertest.Client
			for range 3 {
				sentinels = append(sentinels, startSentinel(t, version, primary.Port))
			}
			for _, s := range sentinels {
				eventually(t, "discovery", func() string {
					return lacks(do(t, s, "SENTINEL", "MASTER", "mymaster"), "num-slaves 2", "num-other-sentinels 2")
				})
			}
			do(t, sentinels[0], "SENTINEL", "FAILOVER", "mymaster")
			next := newPrimary(t, sentinels, primary.Port)
			all := append(replicas, primary)
			for _, server := range all {
				wantNoDenials(t, fmt.Sprint("server ", server.Port), dialAs(t, server, DefaultUser))
			}
			for _, server := range all {
				if server.Port == next {
					server.Stop()
				}
			}
			last := newPrimary(t, sentinels, next)
			for i, s := range sentinels {
				wantNoDenials(t, fmt.Sprint("sentinel ", i), s)
			}
			for _, server := range all {
				if server.Port == last {
					wantNoDenials(t, "promoted server", dialAs(t, server, DefaultUser))
				}
			}
		})
	}
}

// newPrimary waits until every sentinel names the same primary, not at port old.
func newPrimary(t *testing.T, sentinels []*servertest.Client, old int) int {
	t.Helper()
	var port int
	for i, s := range sentinels {
		eventually(t, "failover", func() string {
			reply := do(t, s, "SENTINEL", "MASTER", "mymaster")
			_, text, _ := strings.Cut(reply, " port ")
			text, _, _ = strings.Cut(text, " ")
			now, err := strconv.Atoi(text)
			if err != nil || now == old || i > 0 && now != port {
				return reply
			}
			port = now
			return ""
		})
	}
	return port
}

// startSentinel starts a sentinel with the text of its version and returns a
// connection as _operator.
func startSentinel(t *testing.T, version string, primary int) *servertest.Client {
	t.Helper()
	text, err := SentinelText(version, inputOf(t, v1alpha1.TopologySentinel))
	if err != nil {
		t.Fatal(err)
	}
	server := servertest.Start(t, version, servertest.Options{
		Sentinel: true, TCP: true,
		Files: map[string]string{"users.acl": text},
		Conf: fmt.Sprintf(`aclfile users.acl
sentinel monitor mymaster 127.0.0.1 %d 2
sentinel down-after-milliseconds mymaster 1000
sentinel failover-timeout mymaster 4000
sentinel auth-user mymaster %s
sentinel auth-pass mymaster "%s"
sentinel sentinel-user %s
sentinel sentinel-pass "%s"
`, primary, name.UserSentinel, password, name.UserSentinel, password),
	})
	return dialAs(t, server, name.UserOperator)
}

// TestProcessClientsOfSentinelsMayOnlyAsk: the default user finds the primary and
// follows events, and cannot change what sentinels believe.
func TestProcessClientsOfSentinelsMayOnlyAsk(t *testing.T) {
	t.Parallel()
	for _, version := range servertest.Versions() {
		t.Run(version, func(t *testing.T) {
			text, err := SentinelText(version, inputOf(t, v1alpha1.TopologySentinel))
			if err != nil {
				t.Fatal(err)
			}
			server := servertest.Start(t, version, servertest.Options{
				Sentinel: true, Files: map[string]string{"users.acl": text},
				Conf: "aclfile users.acl\nsentinel monitor mymaster 127.0.0.1 1 2\n",
			})
			client := dialAs(t, server, DefaultUser)
			for _, allowed := range []string{"PING", "SENTINEL GET-MASTER-ADDR-BY-NAME mymaster", "SENTINEL SENTINELS mymaster", "ROLE", "CLIENT SETNAME x", "INFO"} {
				do(t, client, strings.Fields(allowed)...)
			}
			for _, denied := range []string{"SENTINEL FAILOVER mymaster", "SENTINEL SET mymaster quorum 1", "PUBLISH __sentinel__:hello x", "ACL LIST", "SHUTDOWN", "CLIENT KILL ID 1"} {
				if _, err := client.Do(strings.Fields(denied)...); err == nil || !strings.HasPrefix(err.Error(), "NOPERM") {
					t.Errorf("%s: %v, want NOPERM", denied, err)
				}
			}
			do(t, client, "SUBSCRIBE", "+switch-master")
		})
	}
}
