// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package host_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/valkey-render/valkey-render/test/localcluster/internal/host"
	"github.com/valkey-render/valkey-render/test/localcluster/internal/process"
)

// The test program is also the host that it starts.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "host" {
		spec, err := host.Load(os.Args[2])
		if err == nil {
			err = host.Run(spec)
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// start starts a host of programs in a state directory, which is also that of its logs.
func start(t *testing.T, programs ...host.Program) (state string, started *host.Started) {
	t.Helper()
	state = t.TempDir()
	file := filepath.Join(state, "spec.json")
	if err := (host.Spec{Name: "control", Logs: state, Programs: programs}).Save(file); err != nil {
		t.Fatal(err)
	}
	environment := append(os.Environ(), process.Mark(state, "control")...)
	started, err := host.Start("/proc/self/exe", []string{"host", file}, environment, filepath.Join(state, "host.log"), nil, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := process.Kill(context.Background(), state); err != nil {
			t.Error(err)
		}
	})
	return state, started
}

// await waits until a file holds a text so many times.
func await(t *testing.T, file, text string, times int) {
	t.Helper()
	var data []byte
	for range 200 {
		data, _ = os.ReadFile(file)
		if strings.Count(string(data), text) >= times {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("%s: %q is not there %d times: %s", file, text, times, data)
}

func shell(name, script string) host.Program {
	return host.Program{Name: name, Command: []string{"/bin/sh", "-c", script}}
}

func TestStartsAgainWhatEnds(t *testing.T) {
	state, started := start(t, shell("brief", "echo started"))
	if err := started.Go(); err != nil {
		t.Fatal(err)
	}
	await(t, filepath.Join(state, "brief.log"), "started", 3)
	await(t, filepath.Join(state, "host.log"), "brief ended: exit status 0", 2)
}

func TestStartsAProgramAfterWhatItNeeds(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "socket")
	late := shell("late", "test -e "+socket+" && echo found; sleep 60")
	late.After = &host.Probe{Socket: socket}
	state, started := start(t, late, shell("early", "sleep 0.3; touch "+socket+"; sleep 60"))
	if err := started.Go(); err != nil {
		t.Fatal(err)
	}
	await(t, filepath.Join(state, "late.log"), "found", 1)
}

func TestAProgramThatIsNotThereIsTriedAgain(t *testing.T) {
	state, started := start(t, host.Program{Name: "none", Command: []string{"/nonexistent"}})
	if err := started.Go(); err != nil {
		t.Fatal(err)
	}
	await(t, filepath.Join(state, "none.log"), "none: not started", 2)
}

func TestProgramsEndWithTheirHost(t *testing.T) {
	state, started := start(t, shell("endless", "echo started; sleep 60"))
	if err := started.Go(); err != nil {
		t.Fatal(err)
	}
	await(t, filepath.Join(state, "endless.log"), "started", 1)
	if err := syscall.Kill(started.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	var found []process.Process
	for range 100 {
		var err error
		if found, err = process.Find(state); err != nil {
			t.Fatal(err)
		}
		// What the shell itself has started is not the host's to end.
		ended := true
		for _, p := range found {
			ended = ended && p.Program == "sleep"
		}
		if ended {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Errorf("still there: %v", found)
}

func TestEndsWhereItsStarterGivesUp(t *testing.T) {
	state, started := start(t, shell("never", "echo started"))
	started.GiveUp()
	await(t, filepath.Join(state, "host.log"), "host control: given up", 1)
	if _, err := os.Stat(filepath.Join(state, "never.log")); err == nil {
		t.Error("a program was started")
	}
}

func TestProbeAsksUntilTheAnswerIsYes(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked++; asked < 3 {
			http.Error(w, "not yet", http.StatusServiceUnavailable)
		}
	}))
	defer server.Close()
	if err := (host.Probe{URL: server.URL}).Wait(t.Context()); err != nil || asked != 3 {
		t.Errorf("asked %d times: %v", asked, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	err := (host.Probe{URL: "http://127.0.0.1:1/health"}).Wait(ctx)
	if err == nil || !strings.HasPrefix(err.Error(), "http://127.0.0.1:1/health: not ready: ") {
		t.Errorf("got error %v", err)
	}
}
