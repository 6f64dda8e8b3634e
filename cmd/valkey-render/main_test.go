// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// asProgram makes the test binary be the program, so that exit codes and signals
// are those of a real process.
const asProgram = "VALKEY_RENDER_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

func program(t *testing.T, args ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	var said bytes.Buffer
	cmd.Stderr = &said
	return cmd, &said
}

const spec = `apiVersion: valkey-render.dev/v1alpha1
kind: ValkeyCluster
metadata: {name: cache, namespace: shop}
spec: {topology: Standalone}
`

func TestExitCodesOfTheProcess(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"spec.yaml": spec, "wrong.yaml": spec + "status: 1\nspecs: {}\n", "golden.yaml": ""} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for line, want := range map[string]int{
		"build -f spec.yaml":               0,
		"check -f spec.yaml golden.yaml":   1,
		"build -f wrong.yaml":              2,
		"build --nope":                     2,
		"build -f - --timeout 50ms":        124,
		"validate -f spec.yaml":            0,
		"help build":                       0,
		"completion fish":                  0,
		"explain nope":                     2,
		"check -f spec.yaml not-there/dir": 2,
	} {
		cmd, said := program(t, strings.Fields(line)...)
		// Open and silent until the process ends.
		if _, err := cmd.StdinPipe(); err != nil {
			t.Fatal(err)
		}
		err := cmd.Run()
		if got := cmd.ProcessState.ExitCode(); got != want {
			t.Errorf("%s: exit %d, not %d (%v)\n%s", line, got, want, err, said)
		}
	}
}

func TestAClosedPipeLeavesNoTrace(t *testing.T) {
	cmd, said := program(t, "schema")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// head -c 1
	if _, err := io.ReadFull(out, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	out.Close()
	err = cmd.Wait()
	status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() || status.Signal() != syscall.SIGPIPE || said.Len() > 0 {
		t.Errorf("%v, said %q", err, said)
	}
}

func TestAnInterruptEndsAWaitForInput(t *testing.T) {
	cmd, said := program(t, "build", "-f", "-")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// The handler is there before anything is read, and the program has read this
	// once the pipe takes more than it holds.
	if _, err := stdin.Write(make([]byte, 1<<17)); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	err = cmd.Wait()
	if got := cmd.ProcessState.ExitCode(); got != 130 {
		t.Errorf("exit %d (%v): %s", got, err, said)
	}
}
