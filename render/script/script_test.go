// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package script_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/valkey-render/valkey-render/internal/servertest"
	"github.com/valkey-render/valkey-render/render/script"
)

func TestFilesAreTheScripts(t *testing.T) {
	var names []string
	total := 0
	for name, text := range script.Files() {
		names = append(names, name)
		total += len(text)
		if !strings.HasPrefix(text, "# shellcheck shell=dash\n") || !strings.HasSuffix(text, "\n") {
			t.Errorf("%s is no shell script of ours", name)
		}
		if lines := strings.Count(text, "\n"); lines > 300 {
			t.Errorf("%s has %d lines", name, lines)
		}
	}
	slices.Sort(names)
	want := []string{"client.sh", "handover.sh", "identity.sh", "lib.sh", "live.sh", "lock.sh", "members.sh", "persist.sh", "prestop.sh", "probe.sh", "rdb.sh", "role.sh", "sentinel.sh", "start.sh"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
	// A ConfigMap holds at most 1 MiB, and last-applied annotations 256 KiB.
	if total > 96<<10 {
		t.Errorf("the scripts are %d bytes together", total)
	}
}

func TestEndMarkerNamesTheFile(t *testing.T) {
	if got, want := script.EndMarker(script.LiveFile("9.1")), "# valkey-render: end of 9.1.conf"; got != want {
		t.Errorf("%q instead of %q", got, want)
	}
}

func TestProcessShellcheckFindsNothing(t *testing.T) {
	t.Parallel()
	p := newPod(t, "dash", "9.1", "Cluster")
	for name := range script.Files() {
		cmd := exec.Command(servertest.Tool(t, "shellcheck"), "-x", name)
		cmd.Dir = p.root + "/scripts"
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}
