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

	"github.com/valkey-render/valkey-render/internal/servertest"
	"github.com/valkey-render/valkey-render/render/script"
)

// newSaving starts a primary that saves an RDB at its end, and its replica.
// Its history goes on after offset.
func newSaving(t *testing.T, shell, version, offset string) (primary, replica *pod) {
	t.Helper()
	shard := newShard(t, shell, version, "Replication", 2)
	must(t, os.WriteFile(filepath.Join(shard[0].data, "dump.rdb"), []byte(withOffset(offset)), 0o600))
	for _, p := range shard {
		p.env[script.EnvPersisted] = "yes"
		p.args = append(p.args, "--save", "3600 1", "--repl-ping-replica-period", "1")
		p.start()
	}
	wantOK(t, shard[0].do("REPLICAOF", "NO", "ONE"))
	wantOK(t, shard[1].do("REPLICAOF", shard[0].ip, strconv.Itoa(shard[0].port)))
	shard[1].awaitInfo("master_link_status", "up")
	shard[0].fill(50)
	shard[0].run(script.Probe, script.ProbeReadiness).expect(t, 0)
	return shard[0], shard[1]
}

// A file that the server saved earlier has the history of the last one, and a clean
// stop is no proof of a last save: the replica has what was written since.
func TestProcessRoleWithAnRDBOfBefore(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		stop func(p *pod)
	}{
		{"nothing is saved by who stops it", func(p *pod) {
			p.do("SHUTDOWN", "NOSAVE")
			<-p.exited
		}},
		{"nothing is saved by its settings", func(p *pod) {
			wantOK(p.t, p.do("CONFIG", "SET", "save", ""))
			p.stop(syscall.SIGTERM)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			eachShell(t, func(t *testing.T, shell string) {
				for _, version := range servertest.Sample(t) {
					p, replica := newSaving(t, shell, version, "1")
					wantOK(t, p.do("SAVE"))
					wantOK(t, p.do("SET", "later", "x"))
					replica.await("GET later", func(r string) bool { return r == "x" })
					c.stop(p)
					p.start()
					if !p.fenced() || !strings.Contains(p.log.String(), "holds writes of this history that the file here lacks") {
						t.Errorf("%s: %s\n%s", version, p.do("ROLE"), p.log)
					}
					if got := replica.do("GET", "later"); got != "x" {
						t.Errorf("%s: the replica has %q", version, got)
					}
				}
			})
		})
	}
}

// A BGSAVE that was killed leaves a file which no server loads.
func TestProcessRoleIgnoresAHalfWrittenRDB(t *testing.T) {
	t.Parallel()
	eachShell(t, func(t *testing.T, shell string) {
		p, replica := newSaving(t, shell, "9.1", "1")
		wantOK(t, p.do("SAVE"))
		dump := filepath.Join(p.data, "dump.rdb")
		before := p.read(dump)
		wantOK(t, p.do("SET", "later", "x"))
		replica.await("GET later", func(r string) bool { return r == "x" })
		p.stop(syscall.SIGTERM)
		must(t, os.Rename(dump, filepath.Join(p.data, "temp-99.rdb")))
		must(t, os.WriteFile(dump, []byte(before), 0o600))
		p.start()
		if !p.fenced() {
			t.Errorf("%s\n%s", p.do("ROLE"), p.log)
		}
	})
}

// withOffset is an empty RDB file of a history that goes this far.
func withOffset(offset string) string {
	var file strings.Builder
	file.WriteString("REDIS0011")
	for _, aux := range [][2]string{{"repl-stream-db", "0"}, {"repl-id", strings.Repeat("ab", 20)}, {"repl-offset", offset}} {
		file.WriteByte(0xfa)
		for _, text := range aux {
			file.WriteByte(byte(len(text)))
			file.WriteString(text)
		}
	}
	// Its end, and no checksum.
	return file.String() + "\xff" + strings.Repeat("\x00", 8)
}

// The pings that a primary sends are part of its history: a clean stop after some of
// them still leaves a file that nobody is ahead of, whatever form its offset has.
func TestProcessRoleAfterACleanStopOfAnyLength(t *testing.T) {
	t.Parallel()
	for _, offset := range []string{"1", "40000", "5000000000"} {
		t.Run(offset, func(t *testing.T) {
			t.Parallel()
			eachShell(t, func(t *testing.T, shell string) {
				for _, version := range servertest.Sample(t) {
					p, replica := newSaving(t, shell, version, offset)
					before := replica.info("slave_repl_offset")
					eventually(t, "pings go by", func() bool { return replica.info("slave_repl_offset") != before })
					p.stop(syscall.SIGTERM)
					p.start()
					if p.info("role") != "master" || p.do("DBSIZE") != "50" || len(p.info("master_repl_offset")) < len(offset) {
						t.Errorf("%s: %s with %s keys\n%s", version, p.do("ROLE"), p.do("DBSIZE"), p.log)
					}
					replica.awaitInfo("master_link_status", "up")
				}
			})
		})
	}
}

func TestRDBHistory(t *testing.T) {
	t.Parallel()
	id := strings.Repeat("0af9", 10)
	head := "VALKEY080\xfa\x05ctime\xc2\x01\x02\x03\x04\xfa\x07repl-id\x28" + id + "\xfa\x0brepl-offset"
	cases := []struct{ file, want string }{
		{head + "\xc0\x00\xfa", id + " 0"},
		{head + "\xc0\x7f\xfa", id + " 127"},
		{head + "\xc1\x80\x00\xfa", id + " 128"},
		{head + "\xc1\xff\x7f\xfa", id + " 32767"},
		{head + "\xc2\x00\x80\x00\x00\xfa", id + " 32768"},
		{head + "\xc2\xff\xff\xff\x7f\xfa", id + " 2147483647"},
		{head + "\x0a2147483648\xfa", id + " 2147483648"},
		{head + "\x139223372036854775807\xfa", id + " 9223372036854775807"},
		{head + "\xc0\xff\xfa", ""},
		{head + "\xc2\xff\xff", ""},
		{head + "\x0a21474", ""},
		{head + "\x05abcde\xfa", ""},
		{head + "\xc3\x05\x05\xfa", ""},
		{head, ""},
		{strings.Replace(head, "0af9", "0aF9", 1) + "\xc0\x00\xfa", ""},
		{"VALKEY080\xfa\x05ctime\xc2\x01\x02\x03\x04\xfe\x00", ""},
		{"", ""},
	}
	eachShell(t, func(t *testing.T, shell string) {
		p := newPod(t, shell, "9.1", "Replication")
		p.write("scripts/history.sh", "SCRIPTS=${0%/*}\n. \"$SCRIPTS/lib.sh\"\n. \"$SCRIPTS/rdb.sh\"\n"+
			"for file in \"$@\"; do rdb_history \"$file\" && printf '%s %s' \"$RDB_ID\" \"$RDB_OFFSET\"; echo; done\n")
		var files []string
		for i, c := range cases {
			files = append(files, filepath.Join(p.data, strconv.Itoa(i)))
			must(t, os.WriteFile(files[i], []byte(c.file), 0o600))
		}
		lines := strings.Split(p.run("history.sh", files...).out, "\n")
		for i, c := range cases {
			if lines[i] != c.want {
				t.Errorf("%q: %q instead of %q", c.file, lines[i], c.want)
			}
		}
	})
}
