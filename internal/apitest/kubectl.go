// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package apitest

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"testing"
)

// KubectlVariable names the kubectl of the server's version.
const KubectlVariable = "APISERVER_KUBECTL"

// Kubectl runs kubectl as the administrator, and returns its exit status and what it
// printed.
func Kubectl(t testing.TB, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	program := os.Getenv(KubectlVariable)
	if program == "" {
		t.Fatalf("%s names no kubectl: run make test-api, which does", KubectlVariable)
	}
	var out, narration bytes.Buffer
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+Kubeconfig(t), "HOME="+t.TempDir())
	cmd.Stdout, cmd.Stderr = &out, &narration
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("kubectl: %v", err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), narration.String()
}
