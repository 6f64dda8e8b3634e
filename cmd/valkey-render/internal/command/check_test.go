// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// changed is smallest with one live directive more.
var changed = strings.Replace(smallest, "  resources:", "  config: {maxclients: \"5000\"}\n  resources:", 1)

func TestCheckADirectory(t *testing.T) {
	s := newSession(t, map[string]string{"a.yaml": smallest})
	s.must(exitError, "check", "-f", "a.yaml", "out")
	s.must(exitOK, "check", "-f", "a.yaml", "out", "--update")
	if got := s.must(exitOK, "check", "-f", "a.yaml", "out"); got.out != "" {
		t.Errorf("no difference: %s", got.out)
	}
	s.must(exitOK, "build", "-f", "a.yaml", "-d", "built")
	if diff := cmp.Diff(listed(t, "built"), listed(t, "out")); diff != "" {
		t.Errorf("build and check --update write different files (-build +check)\n%s", diff)
	}

	names := listed(t, "out")
	missing, edited := names[0], names[len(names)-1]
	text := s.read("out/" + edited)
	if err := os.Remove("out/" + missing); err != nil {
		t.Fatal(err)
	}
	s.write("out/"+edited, strings.Replace(text, "metadata:", "metadata: # edited", 1))
	s.write("out/extra.yaml", s.read("out/"+edited))
	s.write("out/moved-by-hand.yaml", strings.Join(strings.SplitAfter(text, "\n")[1:], ""))
	s.write("out/kustomization.yaml", "resources: []\n")
	s.write("out/notes.txt", "x")
	got := s.must(exitDifferences, "check", "-f", "a.yaml", "out")
	for _, want := range []string{
		"--- /dev/null\n+++ b/" + missing + "\n", "--- a/" + edited + "\n+++ b/" + edited + "\n",
		"-metadata: # edited\n+metadata:\n", "--- a/extra.yaml\n+++ /dev/null\n", "--- a/moved-by-hand.yaml\n+++ /dev/null\n",
	} {
		if !strings.Contains(got.out, want) {
			t.Errorf("no %q in\n%s", want, got.out)
		}
	}
	for _, none := range []string{"kustomization", "notes"} {
		if strings.Contains(got.out, none) {
			t.Errorf("%s is told as a difference", none)
		}
	}
	if want := "out: 1 file changed, 1 file missing, 2 files no longer rendered; --update accepts\n"; !strings.HasSuffix(got.err, want) {
		t.Errorf("got %q, not %q", got.err, want)
	}

	s.must(exitOK, "check", "-f", "a.yaml", "out", "--update")
	// What a human moved is a human's to remove.
	if got := s.must(exitDifferences, "check", "-f", "a.yaml", "out"); !strings.Contains(got.err, "1 file no longer rendered") {
		t.Errorf("after --update: %s", got.err)
	}
}

func TestCheckAFile(t *testing.T) {
	s := newSession(t, map[string]string{"a.yaml": smallest, "b.yaml": changed})
	s.must(exitError, "check", "-f", "a.yaml", "golden.yaml")
	s.must(exitOK, "check", "-f", "a.yaml", "sub/golden.yaml", "--update")
	if built := s.must(exitOK, "build", "-f", "a.yaml"); built.out != s.read("sub/golden.yaml") {
		t.Error("the file is not what build writes")
	}
	if got := s.must(exitOK, "check", "-f", "a.yaml", "sub/golden.yaml", "--update"); !strings.Contains(got.err, "unchanged") {
		t.Errorf("a second --update: %s", got.err)
	}
	got := s.must(exitDifferences, "check", "-f", "b.yaml", "sub/golden.yaml")
	if !strings.HasPrefix(got.out, "--- a/golden.yaml\n+++ b/golden.yaml\n@@ ") || !strings.Contains(got.out, "maxclients") {
		t.Errorf("diff:\n%s", got.out)
	}
	s.write("notes.yaml", "mine: true\n")
	if got := s.must(exitError, "check", "-f", "a.yaml", "notes.yaml", "--update"); !strings.Contains(got.err, "was not written by valkey-render") || s.read("notes.yaml") != "mine: true\n" {
		t.Errorf("a file of others: %s", got.err)
	}
}

func TestCheckOutputs(t *testing.T) {
	s := newSession(t, map[string]string{"a.yaml": smallest, "b.yaml": changed})
	s.must(exitOK, "check", "-f", "a.yaml", "out", "--update")
	if err := os.Remove("out/" + listed(t, "out")[0]); err != nil {
		t.Fatal(err)
	}
	s.write("out/extra.yaml", s.read("out/"+listed(t, "out")[0]))
	s.env["GITHUB_WORKSPACE"] = ".."
	for form, want := range map[string]string{
		"text": "error VR0602: is rendered and not committed", "json": `"code": "VR0601"`,
		"sarif": `"ruleId": "VR0602"`, "github": "title=VR0603",
	} {
		if got := s.must(exitDifferences, "check", "-f", "b.yaml", "out", "-o", form); !strings.Contains(got.out, want) {
			t.Errorf("%s:\n%s", form, got.out)
		}
	}
}

func TestCheckSaysWhenTheGoldenWasKustomized(t *testing.T) {
	s := newSession(t, map[string]string{"a.yaml": smallest})
	s.must(exitOK, "check", "-f", "a.yaml", "golden.yaml", "--update")
	s.write("golden.yaml", strings.ReplaceAll(s.read("golden.yaml"), "  name: cache", "  name: dev-cache"))
	got := s.must(exitDifferences, "check", "-f", "a.yaml", "golden.yaml")
	want := `golden.yaml: golden.yaml: StatefulSet "dev-cache-0" was rendered as "cache-0" of cluster "cache": with namePrefix`
	if !strings.Contains(got.err, want) {
		t.Errorf("no %q in\n%s", want, got.err)
	}
}
