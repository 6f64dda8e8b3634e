// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package servertest

import (
	"errors"
	"os/exec"
	"strings"
	"testing"
)

func TestProcessStartServesOnSocketAndPort(t *testing.T) {
	t.Parallel()
	for _, version := range Versions() {
		t.Run(version, func(t *testing.T) {
			s := Start(t, version, Options{
				Conf: "include live.conf\n", Files: map[string]string{"live.conf": "maxmemory 12mb\n"}, TCP: true,
			})
			config, err := s.Config("max*")
			if err != nil || config["maxmemory"] != "12582912" {
				t.Fatalf("maxmemory %q, error %v", config["maxmemory"], err)
			}
			client, err := Dial("tcp", s.Addr())
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			if reply, err := client.Do("SET", "key", "a\r\nb"); reply != "OK" || err != nil {
				t.Fatalf("SET: %v, %v", reply, err)
			}
			if reply, err := s.Do("GET", "key"); reply != "a\r\nb" || err != nil {
				t.Fatalf("GET: %q, %v", reply, err)
			}
			if reply, err := s.Do("MGET", "none", "key"); err != nil || len(reply.([]any)) != 2 || reply.([]any)[0] != nil {
				t.Fatalf("MGET: %v, %v", reply, err)
			}
			var refused ReplyError
			if _, err := s.Do("NOSUCH"); !errors.As(err, &refused) {
				t.Fatalf("NOSUCH: %v", err)
			}
			out, err := exec.Command(Program(t, version, "valkey-cli"), "-s", s.Socket(), "STRLEN", "key").CombinedOutput()
			if err != nil || strings.TrimSpace(string(out)) != "4" {
				t.Fatalf("valkey-cli: %s, %v", out, err)
			}
		})
	}
}

func TestProcessTryReportsTheServersWords(t *testing.T) {
	t.Parallel()
	for _, version := range Versions() {
		err := Try(Dir(t), version, Options{Conf: "maxmemory nonsense\n"})
		var refused *RefusedError
		if !errors.As(err, &refused) || !strings.Contains(refused.Output, "FATAL CONFIG FILE ERROR") {
			t.Errorf("%s: %v", version, err)
		}
	}
}

func TestProcessRestartRunsTheSameProgram(t *testing.T) {
	t.Parallel()
	for _, version := range Versions() {
		s := Start(t, version, Options{Args: []string{"--enable-debug-command", "yes"}})
		// The reply never comes: the process replaces itself.
		_, _ = s.Do("DEBUG", "RESTART")
		if err := s.awaitReady(10e9); err != nil {
			t.Errorf("%s: %v", version, err)
		}
	}
}

func TestProcessSentinel(t *testing.T) {
	t.Parallel()
	for _, version := range Versions() {
		s := Start(t, version, Options{Sentinel: true, Conf: "sentinel monitor mymaster 127.0.0.1 1 1\n"})
		if reply, err := s.Do("SENTINEL", "GET-MASTER-ADDR-BY-NAME", "mymaster"); err != nil || len(reply.([]any)) != 2 {
			t.Errorf("%s: address of the master: %v, %v", version, reply, err)
		}
		if reply, err := s.Do("PING"); reply != "PONG" || err != nil {
			t.Errorf("%s: PING: %v, %v", version, reply, err)
		}
	}
}

func TestProcessTools(t *testing.T) {
	t.Parallel()
	for _, command := range [][]string{
		{Tool(t, "dash"), "-c", "echo ok"}, {Tool(t, "busybox"), "sh", "-c", "echo ok"},
	} {
		out, err := exec.Command(command[0], command[1:]...).CombinedOutput()
		if err != nil || string(out) != "ok\n" {
			t.Errorf("%v: %q, %v", command, out, err)
		}
	}
	script, err := fetchScript()
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(Tool(t, "shellcheck"), "--external-sources", "--source-path=SCRIPTDIR", script).CombinedOutput(); err != nil {
		t.Errorf("shellcheck: %v\n%s", err, out)
	}
}
