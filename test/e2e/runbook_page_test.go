// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

//go:build cluster

package e2e

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/valkey-render/valkey-render/internal/apitest"
)

// functions is the procedure of the runbook whose block all others need.
const functions = "Before you begin"

// runbook is docs/runbook.md, followed in the namespace of a place.
type runbook struct {
	*place
	// blocks are what the procedures run, by their headings.
	blocks map[string][]string
	// done are the procedures of which a block was run.
	done map[string]bool
	env  []string
}

// runbook reads the page. Its blocks find the kubectl and the cluster of the tests.
func (p *place) runbook() *runbook {
	p.Helper()
	text, err := os.ReadFile("../../docs/runbook.md")
	if err != nil {
		p.Fatal(err)
	}
	r := &runbook{place: p, blocks: map[string][]string{}, done: map[string]bool{functions: true}}
	heading, open := "", false
	var block strings.Builder
	for line := range strings.Lines(string(text)) {
		title, is := strings.CutPrefix(line, "## ")
		switch {
		case open && strings.TrimSpace(line) == "```":
			r.blocks[heading] = append(r.blocks[heading], block.String())
			open = false
		case open:
			block.WriteString(line)
		case strings.HasPrefix(line, "```"):
			block.Reset()
			open = true
		case is:
			heading = strings.TrimSpace(title)
		}
	}
	if len(r.blocks[functions]) != 1 {
		p.Fatalf("%d blocks below %q", len(r.blocks[functions]), functions)
	}
	bin := p.TempDir()
	if kubectl := os.Getenv("KUBECTL"); kubectl != "" {
		if err := os.Symlink(kubectl, filepath.Join(bin, "kubectl")); err != nil {
			p.Fatal(err)
		}
	}
	r.env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"),
		"KUBECONFIG="+apitest.Kubeconfig(p), "HOME="+p.TempDir(), "NS="+p.namespace, "CLUSTER=cache")
	return r
}

// does runs a block of a procedure as somebody does who has pasted the functions before, and
// returns what it prints. What it needs beside the names is given as NAME=VALUE.
func (r *runbook) does(heading string, block int, names ...string) string {
	r.Helper()
	if block >= len(r.blocks[heading]) {
		r.Fatalf("docs/runbook.md: %d blocks below %q, want number %d", len(r.blocks[heading]), heading, block+1)
	}
	r.done[heading] = true
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", r.blocks[functions][0]+r.blocks[heading][block])
	cmd.Env = append(r.env, names...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Run(); err != nil {
		r.Fatalf("%s, block %d: %v\n%s%s\n%s", heading, block+1, err, out.String(), errOut.String(), r.said())
	}
	return out.String()
}

// said is what the status of the cluster says, for somebody who finds the test failed.
func (r *runbook) said() string {
	s := r.cluster().Status
	return string(s.State) + " " + s.Reason + ": " + s.Message
}
