// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/utils/clock"

	"github.com/valkey-render/valkey-render/internal/servertest"
	"github.com/valkey-render/valkey-render/topologyjob/outcome"
)

// TestProcessLiveConfigByCommand: as a Job does it, with the files of a ConfigMap.
func TestProcessLiveConfigByCommand(t *testing.T) {
	t.Parallel()
	s := servertest.Start(t, "9.1", servertest.Options{TCP: true, Conf: "user default on >hunter2 ~* &* +@all"})
	files := memory{
		"current":    "hunter2",
		"l/8.0.conf": "timeout 3\n# valkey-render: end of 8.0.conf\n", "l/9.1.conf": "timeout 7\n# valkey-render: end of 9.1.conf\n",
	}
	args := func(more ...string) []string {
		return append([]string{
			"run", "--kind", "liveconfig", "--live-dir", "l", "--termination-log", "log",
			"--user", "default", "--password-file", "current", "--pod", fmt.Sprintf("c-0-0=127.0.0.1,port=%d", s.Port), "--sentinel", "c-sentinel-0=127.0.0.1,runs=Stopped",
		}, more...)
	}
	result := func() outcome.Outcome {
		o, err := outcome.Parse([]byte(files["log"]))
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	if got := run(t, files, nil, args("--dry-run")...); got.code != 0 || result().Message != "would: CONFIG SET timeout on c-0-0" {
		t.Fatalf("exit code %d: %+v\n%s", got.code, result(), got.err.String())
	}
	if got := run(t, files, nil, args("--deadline", "1m")...); got.code != 0 || result().Counts["changed"] != 1 || got.err.String() != "c-0-0: CONFIG SET timeout\n" {
		t.Fatalf("exit code %d: %+v\n%s", got.code, result(), got.err.String())
	}
	files["current"] = "wrong"
	if got := run(t, files, nil, args()...); got.code != 1 || result().Reason != "LoginRefused" {
		t.Errorf("exit code %d: %+v\n%s", got.code, result(), got.err.String())
	}
	if got := run(t, files, nil, args("--deadline", "100ms")...); got.code != 124 || result().Reason != "LoginRefused" || strings.Contains(got.err.String(), "wrong\n") {
		t.Errorf("exit code %d: %+v\n%s", got.code, result(), got.err.String())
	}
	delete(files, "l/9.1.conf")
	files["current"] = "hunter2"
	if got := run(t, files, nil, args("--deadline", "1m")...); got.code != 1 || result().Reason != "VersionUnknown" {
		t.Errorf("exit code %d: %+v\n%s", got.code, result(), got.err.String())
	}
	files["l/9.1.conf"] = "timeout 7\n"
	if got := run(t, files, nil, args("--deadline", "1m")...); got.code != outcome.ExitBadInput || !strings.Contains(result().Message, "does not end with") {
		t.Errorf("exit code %d: %+v\n%s", got.code, result(), got.err.String())
	}
}

// TestProcessUsersByCommand: as a Job does it, with the files of a Secret.
func TestProcessUsersByCommand(t *testing.T) {
	t.Parallel()
	const others = "user default on nopass ~* &* +@all\n"
	us := func(password string) string { return "user _operator on >" + password + " +@all\n" }
	s := servertest.Start(t, "9.1", servertest.Options{TCP: true, Conf: us("hunter2")})
	files := memory{"current": "hunter2", "next": "hunter3", "u/9.1.acl": others + us("hunter3")}
	args := func(more ...string) []string {
		return append([]string{
			"run", "--kind", "acl", "--acl-dir", "u", "--deadline", "1m", "--termination-log", "log", "--password-file", "current", "--password-file", "next",
			"--pod", fmt.Sprintf("c-0-0=127.0.0.1,port=%d", s.Port),
		}, more...)
	}
	for _, step := range []struct {
		more   []string
		code   int
		words  string
		change func()
	}{
		{more: []string{"--dry-run"}, words: "would: ACL SETUSER _operator on c-0-0"},
		{words: "1 of 1 pods changed"},
		{words: "nothing to do", change: func() { files["current"] = "hunter3"; delete(files, "next") }},
		{code: 1, words: "would not take any of the passwords", change: func() { files["u/9.1.acl"] = others + us("hunter4") }},
		{code: outcome.ExitBadInput, words: "9.1.acl: has no line for the user default", change: func() { files["u/9.1.acl"] = "" }},
		{code: outcome.ExitBadInput, words: "--acl-dir u: no ACL file in it", change: func() { delete(files, "u/9.1.acl") }},
	} {
		if step.change != nil {
			step.change()
		}
		got := run(t, files, nil, args(step.more...)...)
		o, err := outcome.Parse([]byte(files["log"]))
		if err != nil || got.code != step.code || !strings.Contains(o.Message, step.words) {
			t.Fatalf("exit code %d, %v: %+v, want %d and %q\n%s", got.code, err, o, step.code, step.words, got.err.String())
		}
		if strings.Contains(got.err.String()+got.out.String()+files["log"], "hunter") {
			t.Errorf("a password is told: %s", got.err.String())
		}
	}
}

// TestCertificatesAreLookedAtFirst: nobody is asked to read one that is wrong.
func TestCertificatesAreLookedAtFirst(t *testing.T) {
	files := memory{"ca": "x", "crt": "y", "key": "z"}
	args := []string{"run", "--kind", "tls", "--termination-log", "log", "--pod", "c-0-0=127.0.0.1,port=1"}
	if got := run(t, files, nil, args...); got.code != outcome.ExitBadInput || !strings.Contains(got.err.String(), "name the files") {
		t.Errorf("exit code %d: %s", got.code, got.err.String())
	}
	args = append(args, "--tls-ca", "ca", "--tls-cert", "crt", "--tls-key", "key")
	got := run(t, files, nil, args...)
	if o, err := outcome.Parse([]byte(files["log"])); got.code != 1 || err != nil || o.Reason != "TLSUnreadable" {
		t.Errorf("exit code %d: %+v, %v", got.code, o, err)
	}
}

func TestSettingsPods(t *testing.T) {
	files := memory{
		"spec":       "apiVersion: valkey-render.dev/v1alpha1\nkind: ValkeyCluster\nmetadata: {name: c, namespace: shop}\nspec: {topology: Sentinel}\n",
		"l/9.1.conf": "# valkey-render: end of 9.1.conf\n",
	}
	for flag, words := range map[string]string{
		"x":          "--sentinel \"x\": not NAME=HOST",
		"=h":         "not NAME=HOST",
		"s=h,port=0": "port \"0\"",
	} {
		if got := run(t, files, nil, "run", "--kind", "liveconfig", "--pod", "c-0-0=127.0.0.1", "--sentinel", flag); got.code != outcome.ExitBadInput || !strings.Contains(got.err.String(), words) {
			t.Errorf("%s: exit code %d: %s", flag, got.code, got.err.String())
		}
	}
	r := &runner{sys: System{Files: files, Getenv: func(string) string { return "" }, Clock: clock.RealClock{}}}
	r.specs.files = []string{"spec"}
	o, err := r.settleOptions()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range o.Pods {
		got = append(got, fmt.Sprintf("%s %s:%d %t", p.Name, p.Host, p.Port, p.Sentinel))
	}
	want := "c-0-0 c-0-0.c-nodes.shop.svc.cluster.local.:6379 false, c-0-1 c-0-1.c-nodes.shop.svc.cluster.local.:6379 false, c-0-2 c-0-2.c-nodes.shop.svc.cluster.local.:6379 false, " +
		"c-sentinel-0 c-sentinel-0.c-sentinel.shop.svc.cluster.local.:26379 true, c-sentinel-1 c-sentinel-1.c-sentinel.shop.svc.cluster.local.:26379 true, c-sentinel-2 c-sentinel-2.c-sentinel.shop.svc.cluster.local.:26379 true"
	if text := strings.Join(got, ", "); text != want {
		t.Errorf("pods %s", text)
	}
}
