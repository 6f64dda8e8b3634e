// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package script_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/valkey-render/valkey-render/render/script"
)

// started tells that a start which waited for a promotion goes on.
const started = "starting for good"

// newWaiting is a primary that lost its data and asks peers that a file plays: its
// content is what they say. asked is how often they were.
func newWaiting(t *testing.T, shell, says string, more ...string) (p *pod, say func(text string), asked func() int) {
	t.Helper()
	p = newPod(t, shell, "8.0", "Cluster")
	p.set(map[string]string{script.EnvNodeTimeout: "300", script.EnvReplicas: "1", script.EnvPeers: strings.Join(append([]string{"127.0.0.9:1"}, more...), " ")})
	must(t, os.WriteFile(filepath.Join(p.data, "nodes.conf"), []byte(primary+myCopy+vars), 0o600))
	p.fake("valkey-cli", `echo >>`+p.root+`/asked; cat `+p.root+`/says`+"\n")
	p.fake("valkey-server", `echo ">>> 'valkey-render-end-of-check"; echo '`+started+"'\n")
	say = func(text string) { p.write("says", text) }
	say(says)
	return p, say, func() int { return len(p.read(filepath.Join(p.root, "asked"))) }
}

const (
	holdsData = "role:slave\ndb0:keys=1\nloading:0\n"
	holdsNone = "role:slave\nloading:0\n"
	isPrimary = "role:master\ndb0:keys=1\nloading:0\n"
	unknown   = "Could not connect to Valkey at c-0-1:6379: Name or service not known\n"
	refused   = "Could not connect to Valkey at c-0-1:6379: Connection refused\n"
)

// What a pod said last stands until it says something else.
func TestProcessIdentityWaitRemembersWhoHeldData(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, before, silence, after, words string }{
		{"it held data", holdsData, unknown, isPrimary, "is its primary now"},
		{"it held data, and its server is gone", holdsData, refused, holdsNone, "no other pod of the shard holds data (0 did not answer)"},
		{"it is busy", holdsData, "BUSY Valkey is busy running a script.\n", isPrimary, "is its primary now"},
		{"it was never heard of", unknown, unknown, holdsNone, "(0 did not answer)"},
		{"it hangs", "", "", isPrimary, "is its primary now"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			eachShell(t, func(t *testing.T, shell string) {
				p, say, asked := newWaiting(t, shell, c.before)
				p.launch(p.args...)
				begin := time.Now()
				rounds := func(more int) {
					want := asked() + more
					eventually(t, "it asks again", func() bool { return asked() >= want })
				}
				rounds(2)
				say(c.silence)
				rounds(3)
				eventually(t, "four node timeouts are over", func() bool { return time.Since(begin) > 1200*time.Millisecond })
				rounds(3)
				if strings.Contains(p.log.String(), started) {
					t.Fatalf("it started beside a pod that may hold its data:\n%s", p.log)
				}
				say(c.after)
				eventually(t, "it starts", func() bool { return strings.Contains(p.log.String(), started) })
				if !strings.Contains(p.log.String(), c.words) {
					t.Errorf("it did not say %q:\n%s", c.words, p.log)
				}
			})
		})
	}
}

// A pod whose host says that no server is there holds nothing in memory, and so does
// one that said so itself.
func TestProcessIdentityWaitGivesSilenceTwoNodeTimeouts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, before, after string }{
		{"no server is there", refused, refused},
		{"it held none", holdsNone, unknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			eachShell(t, func(t *testing.T, shell string) {
				// A second one that is never there keeps the first from ending the wait.
				p, say, asked := newWaiting(t, shell, c.before, "127.0.0.10:1")
				p.fake("valkey-cli", `echo >>`+p.root+`/asked
case "$*" in *'127.0.0.10 '*) echo 'Connection refused' ;; *) cat `+p.root+`/says ;; esac`+"\n")
				p.set(map[string]string{script.EnvNodeTimeout: "2000"})
				begin := time.Now()
				p.launch(p.args...)
				eventually(t, "both were asked twice", func() bool { return asked() >= 4 })
				say(c.after)
				eventually(t, "it starts", func() bool { return strings.Contains(p.log.String(), started) })
				if took := time.Since(begin); took < 4*time.Second {
					t.Errorf("started after %s:\n%s", took, p.log)
				}
			})
		})
	}
}

// Nobody can be elected, the replica holds the only copy, and it is not heard of for
// a moment when all limits of silence are over.
func TestProcessIdentityWaitsForAReplicaThatHangs(t *testing.T) {
	t.Parallel()
	eachShell(t, func(t *testing.T, shell string) {
		cluster := newCluster(t, shell, "9.1", 1, 2)
		master, slave := cluster[0][0], cluster[0][1]
		master.fill(100)
		slave.await("DBSIZE", func(r string) bool { return r == "100" })
		master.stop(syscall.SIGKILL)
		begin := time.Now()
		master.launch(master.args...)
		eventually(t, "it waits", func() bool { return strings.Contains(master.log.String(), "starting once one of them is promoted") })
		eventually(t, "three node timeouts are over", func() bool { return time.Since(begin) > 3*time.Second })

		must(t, slave.cmd.Process.Signal(syscall.SIGSTOP))
		// Longer than a question is left without an answer.
		time.Sleep(1500 * time.Millisecond)
		must(t, slave.cmd.Process.Signal(syscall.SIGCONT))

		master.run(script.Probe, script.ProbeStartup).expect(t, 1)
		if got := slave.info("role") + " " + slave.do("DBSIZE"); got != "slave 100" {
			t.Fatalf("the replica is %s keys\n%s", got, master.log)
		}
		wantOK(t, slave.do("CLUSTER", "FAILOVER", "TAKEOVER"))
		master.awaitInfo("master_link_status", "up")
		if got := master.do("DBSIZE") + " " + master.info("master_port"); got != "100 "+strconv.Itoa(slave.port) {
			t.Errorf("keys and primary are %s\n%s", got, master.log)
		}
	})
}
