// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package servertest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// requests are commands as a client sends them, one a line.
func requests(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		fmt.Fprintf(&b, "*%d\r\n", len(words))
		for _, w := range words {
			fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(w), w)
		}
	}
	return b.String()
}

func TestRecorderNotesWhoSendsWhat(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	var r Recorder
	// What only shows that a client lives is no command, and what is inline is one.
	r.follow(strings.NewReader("\r\nPING\r\n" + requests("AUTH alice pw\nSET k "+long+"\nCluster Nodes\nGET cluster\n"+
		"HELLO 3 AUTH bob pw SETNAME x\nCLIENT SETNAME y\nCLIENT\nAUTH pw\nMSET a 1 b 2 c 3\nAUTH bob pw\nRESET\nINFO server")))
	for user, want := range map[string][]string{
		"default": {"auth", "info", "mset", "ping"},
		"alice":   {"cluster|nodes", "get", "hello", "set"},
		"bob":     {"auth", "client", "client|setname", "reset"},
	} {
		if got := r.Sent(user); !slices.Equal(got, want) {
			t.Errorf("%s sent %q, want %q", user, got, want)
		}
	}
	if err := r.Err(); err != nil {
		t.Error(err)
	}
}

func TestRecorderSaysWhatItDoesNotUnderstand(t *testing.T) {
	for _, text := range []string{"*x\r\n", "*1\r\n$-1\r\n", "*1\r\n+OK\r\n", "*-1\r\n"} {
		var r Recorder
		if r.follow(strings.NewReader(text)); r.Err() == nil {
			t.Errorf("%q was understood: %q", text, r.Sent("default"))
		}
	}
	// One that a client leaves unfinished is no matter.
	var r Recorder
	if r.follow(strings.NewReader("*2\r\n$3\r\nG")); r.Err() != nil {
		t.Error(r.Err())
	}
}
