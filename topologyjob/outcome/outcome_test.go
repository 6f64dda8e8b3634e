// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package outcome

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/valkey-render/valkey-render/render/job"
)

// TestWhoeverReadsAnOutcomeReadsTheSameWord: the program that applies manifests waits for
// Jobs by what they say.
func TestWhoeverReadsAnOutcomeReadsTheSameWord(t *testing.T) {
	data, err := Outcome{Kind: "drain", Result: Converged}.JSON()
	if err != nil || !strings.Contains(string(data), `"result":"`+job.Converged+`"`) {
		t.Errorf("%s, %v: not %s", data, err, job.Converged)
	}
}

func TestEveryOutcomeFitsAndComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := Outcome{
			Kind:         rapid.StringN(1, 20, 60).Draw(t, "kind"),
			Result:       rapid.SampledFrom([]Result{Converged, Blocked, Failed, BadInput, Raced, Deadline, Interrupted}).Draw(t, "result"),
			Reason:       rapid.StringMatching(`[A-Za-z]{0,30}`).Draw(t, "reason"),
			Message:      strings.Repeat(rapid.String().Draw(t, "part"), rapid.IntRange(0, 3000).Draw(t, "times")),
			Counts:       rapid.MapOfN(rapid.StringMatching(`[a-z]{1,12}`), rapid.Int64(), 0, 10).Draw(t, "counts"),
			Fingerprint:  rapid.StringMatching(`([0-9a-f]{64})?`).Draw(t, "fingerprint"),
			Milliseconds: rapid.Int64().Draw(t, "ms"),
		}
		if len(o.Counts) == 0 {
			o.Counts = nil
		}
		// What is not text is not kept by JSON.
		o.Kind, o.Message = strings.ToValidUTF8(o.Kind, "?"), strings.ToValidUTF8(o.Message, "?")
		data, err := o.JSON()
		if err != nil {
			t.Fatal(err)
		}
		if len(data) > Limit || !utf8.Valid(data) {
			t.Fatalf("%d bytes", len(data))
		}
		got, err := Parse(data)
		if err != nil {
			t.Fatal(err)
		}
		if got.Message != o.Message {
			rest, wasCut := strings.CutSuffix(got.Message, cut)
			if got.Message != "" && (!wasCut || !strings.HasPrefix(o.Message, rest)) {
				t.Fatalf("the message became %q", got.Message)
			}
			got.Message = o.Message
		}
		if diff := cmp.Diff(o, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestALongMessageKeepsItsBeginning(t *testing.T) {
	data, err := Outcome{Kind: "secrets", Result: Blocked, Message: strings.Repeat("é", 5000)}.JSON()
	if err != nil {
		t.Fatal(err)
	}
	o, err := Parse(data)
	if err != nil || len(o.Message) < 3500 || !strings.HasSuffix(o.Message, "é…") {
		t.Errorf("%d bytes kept, %v", len(o.Message), err)
	}
}

func TestWhatIsNoOutcome(t *testing.T) {
	for _, text := range []string{"", "{}", `{"kind":"secrets"}`, `{"result":"Converged"}`, `cted","result":"Converged"}`, "[]"} {
		if _, err := Parse([]byte(text)); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

func TestExitCodes(t *testing.T) {
	want := map[Result]int{Converged: 0, Blocked: 1, Failed: 1, BadInput: 64, Raced: 3, Deadline: 124, Interrupted: 130}
	for result, code := range want {
		if got := result.ExitCode(); got != code {
			t.Errorf("%s: %d, want %d", result, got, code)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"kind":"secrets","result":"Converged","milliseconds":12}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		o, err := Parse(data)
		if err != nil || len(o.Kind)+len(o.Reason)+len(o.Fingerprint) > 1000 || len(o.Counts) > 20 {
			return
		}
		again, err := o.JSON()
		if err != nil {
			return
		}
		if _, err := Parse(again); err != nil {
			t.Errorf("%s: %v", again, err)
		}
	})
}

// TestACrashIsNotBadInput: a Job whose program crashes is tried again.
func TestACrashIsNotBadInput(t *testing.T) {
	if os.Getenv("CRASH") != "" {
		go panic("on purpose")
		select {}
	}
	crash := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestACrashIsNotBadInput$")
	crash.Env = append(os.Environ(), "CRASH=1")
	err := crash.Run()
	ended, ok := errors.AsType[*exec.ExitError](err)
	if !ok || ended.ExitCode() <= 0 {
		t.Fatalf("%v", err)
	}
	for _, result := range []Result{Converged, Blocked, Failed, BadInput, Raced, Deadline, Interrupted} {
		if result.ExitCode() == ended.ExitCode() {
			t.Errorf("%s ends with %d, as a crash does", result, ended.ExitCode())
		}
	}
}
