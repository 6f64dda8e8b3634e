// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"k8s.io/utils/clock"

	"github.com/valkey-render/valkey-render/cmd/internal/cli"
	"github.com/valkey-render/valkey-render/topologyjob/outcome"
)

func writeFile(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestReplaceLeavesNothingOfALongerText(t *testing.T) {
	name := writeFile(t, "a longer text")
	if err := Disk().Replace(name, []byte("short")); err != nil {
		t.Fatal(err)
	}
	if data, err := Disk().ReadFile(name); err != nil || string(data) != "short" {
		t.Errorf("%q, %v", data, err)
	}
	if !Disk().Exists(name) || Disk().Exists(name+"x") {
		t.Error("Exists is wrong")
	}
	if err := Disk().Replace(t.TempDir(), nil); err == nil {
		t.Error("a directory was replaced")
	}
}

// TestAnOutcomeThatNobodyCanReadIsNoSuccess: the reconciler would wait for it.
func TestAnOutcomeThatNobodyCanReadIsNoSuccess(t *testing.T) {
	var s session
	r := &runner{sys: System{Out: &s.out, Err: &s.err, Files: memory{}, Clock: clock.RealClock{}}, log: "/full/log", output: cli.NewChoice("text", "json")}
	work := func(context.Context, *runner) (done, error) { return done{message: "all well"}, nil }
	end, ok := errors.AsType[*endError](r.run(t.Context(), kind{"secrets", "", work}))
	if !ok || end.result != outcome.Failed || s.err.String() != "valkey-topology: termination log: no space left on device\n" {
		t.Errorf("%v, %s", end, s.err.String())
	}
	r.log = ""
	if err := r.run(t.Context(), kind{"secrets", "", work}); err != nil || s.out.String() != "secrets: Converged: all well\n" {
		t.Errorf("%v, %q", err, s.out.String())
	}
}

// TestWithoutADeadlineNothingIsWaitedFor that is not there, and what is, is told.
func TestWithoutADeadlineNothingIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		files := memory{}
		s := run(t, files, nil, "run", "--kind", "bootstrap", "--shards", "1", "--pod", "c-0-0=127.0.0.1,port=1", "--termination-log", "log")
		o, err := outcome.Parse([]byte(files["log"]))
		if s.code != 1 || err != nil || o.Result != outcome.Blocked || !strings.Contains(o.Message, "nothing is waited for: waiting: pod c-0-0 Unreachable") {
			t.Errorf("exit code %d, %v, %+v\n%s", s.code, err, o, s.err.String())
		}
	})
}

// TestTheCertificateThatIsServedIsInTheOutcome, from where it gets into the status.
func TestTheCertificateThatIsServedIsInTheOutcome(t *testing.T) {
	var s session
	files := memory{}
	r := &runner{sys: System{Out: &s.out, Err: &s.err, Files: files, Clock: clock.RealClock{}}, log: "log", output: cli.NewChoice("text", "json")}
	work := func(context.Context, *runner) (done, error) { return done{fingerprint: "ab01"}, nil }
	if err := r.run(t.Context(), kind{"tls", "", work}); err != nil {
		t.Fatal(err)
	}
	if o, err := outcome.Parse([]byte(files["log"])); err != nil || o.Fingerprint != "ab01" {
		t.Errorf("%+v, %v", o, err)
	}
}
