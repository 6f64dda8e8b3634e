// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package script_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/valkey-render/valkey-render/render/script"
)

// othersOfSentinel answers for a primary with offset 50, two replicas and three
// sentinels. What differs from a handover that works is a file with that name.
const othersOfSentinel = `cd ROOT/world
echo "$*" >>asked
master() { printf 'ip\n%s\nport\n%s\nflags\nmaster\n' "$1" "$2"; }
replica() { printf 'role:slave\nmaster_link_status:up\nmaster_replid:r\nslave_priority:%s\nslave_repl_offset:%s\n' "$1" "$2"; }
case "$*" in
*'-h 127.0.0.1 '*INFO*) [ -e moved ] && echo role:slave || printf 'role:master\nmaster_repl_offset:50\nmaster_replid:r\n' ;;
*'-h 127.0.0.1 '*REPLICAOF*) [ -e deaf ] || echo >moved; echo OK ;;
*'-h 127.0.0.1 '*'CLIENT PAUSE'*) [ ! -e replaced ] || echo >elsewhere; echo OK ;;
*'-h 127.0.0.1 '*) echo OK ;;
*'CONFIG GET'*) ;;
*'-h 127.0.0.8 '*INFO*) if [ -e behind ]; then replica 100 49; elif [ -e spare ]; then replica 0 49; else replica 100 50; fi ;;
*'-h 127.0.0.9 '*INFO*) if [ -e promoted ]; then echo role:master; else replica 100 50; fi ;;
*'-h 127.0.0.13 '*'SENTINEL MASTER'*) master 127.0.0.7 1 ;;
*'SENTINEL MASTER'*) if [ -e promoted ]; then master 127.0.0.9 1; elif [ -e elsewhere ]; then master 127.0.0.7 1; else master 127.0.0.1 PORT; fi ;;
*'SENTINEL FAILOVER'*) [ -e stuck ] || [ -e refused ] || echo >promoted
	if [ -e refused ]; then cat refused; elif [ ! -e mute ]; then echo OK; fi ;;
esac
`

// Writes go on after a handover that did not begin, and on no primary after one that
// may have.
func TestProcessPreStopSentinelStopsWritesUntilItIsAReplica(t *testing.T) {
	t.Parallel()
	const begin, goOn = "SENTINEL FAILOVER", "CLIENT UNPAUSE"
	for _, c := range []struct {
		name, world string // names of files
		words       string
		begun, on   bool
	}{
		{"all is well", "", "127.0.0.9:1 took over", true, true},
		{"a replica that no sentinel chooses is behind", "spare", "127.0.0.9:1 took over", true, true},
		{"no replica is promoted", "stuck", "writes stay stopped", true, false},
		{"no replica is promoted, and the sentinel did not answer", "stuck mute", "writes stay stopped", true, false},
		{"the sentinel refuses", "refused", "does not fail over: NOGOODSLAVE", true, true},
		{"a replica was promoted, but this server stays a primary", "deaf", "writes stay stopped", true, false},
		{"one of the replicas is behind", "behind", "not every replica caught up", false, true},
		{"the sentinels have another primary meanwhile", "replaced", "does not name this server any more", false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			eachShell(t, func(t *testing.T, shell string) {
				p := newPod(t, shell, "9.1", "Sentinel")
				p.set(map[string]string{
					script.EnvReplicas: "2", script.EnvPeers: p.addr() + " 127.0.0.8:1 127.0.0.9:1", script.EnvGrace: "30",
					script.EnvSentinels: "127.0.0.11:2 127.0.0.12:2 127.0.0.13:2",
				})
				world := filepath.Join(p.root, "world")
				must(t, os.Mkdir(world, 0o700))
				for _, file := range strings.Fields(c.world) {
					must(t, os.WriteFile(filepath.Join(world, file), []byte("NOGOODSLAVE No suitable replica to promote\n"), 0o600))
				}
				p.fake("valkey-cli", strings.NewReplacer("ROOT", p.root, "PORT", strconv.Itoa(p.port)).Replace(othersOfSentinel))
				r := p.run(script.PreStop)
				r.expect(t, 0, c.words)
				asked := p.read(filepath.Join(world, "asked"))
				if strings.Contains(asked, begin) != c.begun || strings.Contains(asked, goOn) != c.on {
					t.Errorf("a handover was asked for, and writes went on, not as %t, %t:\n%s%s", c.begun, c.on, asked, r.out)
				}
				for line := range strings.SplitSeq(asked, "\n") {
					if strings.Contains(line, begin) && strings.Contains(line, "127.0.0.13") {
						t.Errorf("a sentinel that watches another server was asked:\n%s", line)
					}
				}
			})
		})
	}
}

// What the others are was asked before the handover: by its end each may be told
// something else, and a primary that is made a replica loses its data.
func TestProcessPreStopRepointsOnlyItsOwnReplicas(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, third string // what the third pod says after the handover
		told        bool
	}{
		{"it follows this server", `role:slave\nmaster_host:127.0.0.1\nmaster_port:PORT\n`, true},
		{"it follows another one", `role:slave\nmaster_host:127.0.0.7\nmaster_port:PORT\n`, false},
		{"it follows the new primary", `role:slave\nmaster_host:127.0.0.8\nmaster_port:1\n`, false},
		{"it is a primary", `role:master\n`, false},
		{"it does not answer", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			eachShell(t, func(t *testing.T, shell string) {
				p := newPod(t, shell, "9.1", "Replication")
				p.set(map[string]string{script.EnvReplicas: "2", script.EnvPeers: p.addr() + " 127.0.0.8:1 127.0.0.9:1"})
				p.fake("valkey-cli", strings.NewReplacer("PORT", strconv.Itoa(p.port), "THIRD", strings.ReplaceAll(c.third, "PORT", strconv.Itoa(p.port))).Replace(`
replica() { printf 'role:slave\nmaster_link_status:up\nmaster_replid:r\nslave_repl_offset:5\n'; }
case "$*" in
*'CONFIG GET'*) ;;
*FAILOVER*) echo >moved; echo OK ;;
*REPLICAOF*) echo "$*" >told; echo OK ;;
*'-h 127.0.0.1 '*INFO*) [ -e moved ] && printf 'role:slave\nmaster_failover_state:no-failover\n' ||
	printf 'role:master\nmaster_repl_offset:5\nmaster_replid:r\nslave0:ip=127.0.0.8,port=1,state=online,offset=5,lag=0\n' ;;
*'-h 127.0.0.8 '*INFO*) [ -e moved ] && echo role:master || replica ;;
*'-h 127.0.0.9 '*INFO*) [ -e moved ] && printf 'THIRD' || replica ;;
esac
`))
				r := p.run(script.PreStop)
				r.expect(t, 0, "127.0.0.8:1 took over")
				if told := p.read(p.data + "/told"); strings.Contains(told, "-h 127.0.0.9 -p 1 ") != c.told || (told != "") != c.told {
					t.Errorf("it was told %q:\n%s", told, r.out)
				}
			})
		})
	}
}

// Someone else moves the role while the hook asks around: it must not ask for
// another move.
func TestProcessPreStopReadsTheRoleAgain(t *testing.T) {
	eachShell(t, func(t *testing.T, shell string) {
		for _, topology := range []string{"Cluster", "Replication"} {
			p := newPod(t, shell, "9.1", topology)
			p.set(map[string]string{
				script.EnvVersion: "8.1", script.EnvReplicas: "1", script.EnvPeers: p.addr() + " 127.0.0.9:1",
			})
			p.fake("valkey-cli", `case "$*" in
*'127.0.0.9 '*INFO*) printf 'role:slave\nmaster_link_status:up\nmaster_replid:r\nslave_repl_offset:5\n' ;;
*'CLUSTER NODES'*) echo "x 127.0.0.1 myself,master - 0 0 1 connected 0-5" ;;
*'CONFIG GET'*) printf 'replica-announce-ip\n127.0.0.9\n' ;;
*INFO*) if [ -e asked ] && [ -e again ]; then echo role:slave; exit; fi
	[ -e asked ] && echo >again
	echo >asked
	printf 'role:master\nmaster_repl_offset:5\nmaster_replid:r\nslave0:ip=127.0.0.9,port=1,state=online,offset=5,lag=0\n' ;;
*) echo >moved; echo OK ;;
esac
`)
			p.run(script.PreStop).expect(t, 0, "the role has already moved")
			if p.read(p.data+"/moved") != "" {
				t.Errorf("%s: it asked for a move", topology)
			}
			for _, file := range []string{"asked", "again"} {
				if !strings.Contains(p.read(p.data+"/"+file), "\n") {
					t.Errorf("%s: the fake client was not asked as expected", topology)
				}
			}
		}
	})
}
