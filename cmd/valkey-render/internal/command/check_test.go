// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/valkey-render/valkey-render/render/job"
	"github.com/valkey-render/valkey-render/render/write"
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
		"--- /dev/null\n+++ b/out/" + missing + "\n", "--- a/out/" + edited + "\n+++ b/out/" + edited + "\n",
		"-metadata: # edited\n+metadata:\n", "--- a/out/extra.yaml\n+++ /dev/null\n", "--- a/out/moved-by-hand.yaml\n+++ /dev/null\n",
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
	if want := "out: 1 file changed, 1 file missing, 2 files no longer rendered; --update accepts, and leaves 1 file that valkey-render did not write\n"; !strings.HasSuffix(got.err, want) {
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
	if !strings.HasPrefix(got.out, "--- a/sub/golden.yaml\n+++ b/sub/golden.yaml\n@@ ") || !strings.Contains(got.out, "maxclients") {
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
		"text": "error VR0602 ConfigMap/shop/cache-live: is rendered and not committed", "json": `"code": "VR0601"`,
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
	want := `golden.yaml: StatefulSet "dev-cache-0" was rendered as "cache-0" of cluster "cache": with namePrefix`
	if !strings.Contains(got.err, want) {
		t.Errorf("no %q in\n%s", want, got.err)
	}
}

const threeShards = `apiVersion: valkey-render.dev/v1alpha1
kind: ValkeyCluster
metadata:
  name: cache
  namespace: shop
spec:
  profile: Durable
  shards: 3
  storage: {size: 2Gi, storageClassName: slow}
  tls: {secretName: cache-tls}
  resources: {limits: {memory: 1Gi}}
`

func TestCheckSaysWhatAChangeDoes(t *testing.T) {
	s := newSession(t, map[string]string{"a.yaml": smallest, "b.yaml": changed})
	for _, golden := range []string{"out", "golden.yaml"} {
		s.must(exitOK, "check", "-f", "a.yaml", golden, "--update")
		got := s.must(exitDifferences, "check", "-f", "b.yaml", golden)
		want := "plan: shop/cache: live: maxclients: no pod restarts; the reconciler sets it on servers that run\n"
		if !strings.Contains(got.err, want) {
			t.Errorf("%s: %s", golden, got.err)
		}
		var report struct {
			Plan     []struct{ Action, Cluster string }
			Findings []struct {
				Code, File, Object, Message string
				Line                        int
			}
		}
		if err := json.Unmarshal([]byte(s.must(exitDifferences, "check", "-f", "b.yaml", golden, "-o", "json").out), &report); err != nil {
			t.Fatal(err)
		}
		if len(report.Plan) != 1 || report.Plan[0].Action != "live" || len(report.Findings) != 2 {
			t.Errorf("%s: %+v", golden, report)
		}
		for _, f := range report.Findings {
			line := strings.Split(s.read(f.File), "\n")[f.Line-1]
			if strings.Contains(line, "render-hash") {
				t.Errorf("%s:%d is the line %q", f.File, f.Line, line)
			}
			if strings.HasPrefix(f.Object, "ConfigMap/") && !strings.Contains(f.Message, "live: maxclients") {
				t.Errorf("%s: %s", f.Object, f.Message)
			}
		}
	}
}

// TestCheckRefusesWhatCannotBeApplied, in every form, and --update with it.
func TestCheckRefusesWhatCannotBeApplied(t *testing.T) {
	s := newSession(t, map[string]string{"was.yaml": threeShards})
	for name, c := range map[string]struct{ from, to, want string }{
		"profile":       {"profile: Durable", "profile: Cache", "spec.yaml:7:3: error VR0604 ValkeyCluster/shop/cache spec.profile: "},
		"TLS":           {"  tls: {secretName: cache-tls}\n", "", "spec.yaml:6:1: error VR0604 ValkeyCluster/shop/cache spec.tls: "},
		"storage class": {"storageClassName: slow", "storageClassName: fast", "spec.yaml:9:24: error VR0604 ValkeyCluster/shop/cache spec.storage.storageClassName: "},
		"smaller disk":  {"size: 2Gi", "size: 1Gi", "spec.yaml:9:13: error VR0604 ValkeyCluster/shop/cache spec.storage.size: "},
		"shard less":    {"shards: 3", "shards: 2\n  deletionPolicy: Allow", "spec.yaml:8:3: error VR0605 ValkeyCluster/shop/cache spec.shards: "},
		"old version":   {"profile: Durable", "profile: Durable\n  version: \"8.1\"", "spec.yaml:8:3: error VR0604 ValkeyCluster/shop/cache spec.version: "},
	} {
		t.Run(name, func(t *testing.T) {
			for _, golden := range []string{"out", "golden.yaml"} {
				s.must(exitOK, "check", "-f", "was.yaml", golden, "--update", "--force")
				s.write("spec.yaml", strings.Replace(threeShards, c.from, c.to, 1))
				for _, form := range []string{"diff", "text"} {
					got := s.must(exitError, "check", "-f", "spec.yaml", golden, "-o", form)
					if !strings.Contains(got.err+got.out, c.want) {
						t.Errorf("%s: no %q in\n%s%s", form, c.want, got.err, got.out)
					}
				}
				got := s.must(exitError, "check", "-f", "spec.yaml", golden, "--update")
				if !strings.Contains(got.err, c.want) || !strings.Contains(got.err, golden+": not updated; --force accepts") {
					t.Errorf("--update: %s", got.err)
				}
				s.must(exitOK, "check", "-f", "was.yaml", golden)
				s.must(exitOK, "check", "-f", "spec.yaml", golden, "--update", "--force")
				s.must(exitOK, "check", "-f", "spec.yaml", golden)
			}
		})
	}
}

// TestCheckAcceptsFewerShardsOnlyWhereTheyAreDrained: by the reconciler, not by rendered Jobs.
func TestCheckAcceptsFewerShardsOnlyWhereTheyAreDrained(t *testing.T) {
	fewer := strings.Replace(threeShards, "shards: 3", "shards: 2", 1)
	rendered := func(spec string) string { return strings.Replace(spec, "spec:\n", "spec:\n  jobs: Rendered\n", 1) }
	s := newSession(t, map[string]string{
		"was.yaml": threeShards, "is.yaml": fewer, "rendered-was.yaml": rendered(threeShards), "rendered-is.yaml": rendered(fewer),
	})
	for _, golden := range []string{"out", "golden.yaml"} {
		s.must(exitOK, "check", "-f", "was.yaml", golden, "--update", "--force")
		got := s.must(exitDifferences, "check", "-f", "is.yaml", golden)
		if !strings.Contains(got.err, "removes: shard 2 with 2 pods, once the reconciler has moved its slots away") || strings.Contains(got.err, "VR0605") {
			t.Errorf("%s: %s", golden, got.err)
		}
		s.must(exitOK, "check", "-f", "is.yaml", golden, "--update")

		s.must(exitOK, "check", "-f", "rendered-was.yaml", golden, "--update", "--force")
		got = s.must(exitError, "check", "-f", "rendered-is.yaml", golden, "--update")
		if !strings.Contains(got.err, "error VR0605") || !strings.Contains(got.err, "which with jobs: Rendered valkey-render apply does") {
			t.Errorf("%s: %s", golden, got.err)
		}
	}
}

func TestCheckOverlooksLineEnds(t *testing.T) {
	s := newSession(t, map[string]string{"a.yaml": smallest, "b.yaml": changed})
	for _, golden := range []string{"out", "golden.yaml"} {
		s.must(exitOK, "check", "-f", "a.yaml", golden, "--update")
		files := []string{golden}
		if golden == "out" {
			files = nil
			for _, name := range listed(t, golden) {
				files = append(files, golden+"/"+name)
			}
		}
		for _, name := range files {
			s.write(name, strings.ReplaceAll(s.read(name), "\n", "\r\n"))
		}
		got := s.must(exitOK, "check", "-f", "a.yaml", golden)
		if got.out != "" || strings.Count(got.err, "line ends of Windows") != 1 {
			t.Errorf("%s: %s%s", golden, got.out, got.err)
		}
		if got := s.must(exitDifferences, "check", "-f", "b.yaml", golden); strings.Count(got.out, "\n+") > 24 || strings.Contains(got.out, "\r") {
			t.Errorf("%s: %s", golden, got.out)
		}
	}
}

func TestCheckSaysBeforehandWhatUpdateRefuses(t *testing.T) {
	s := newSession(t, map[string]string{"a.yaml": smallest, "golden.yaml": "mine: true\n"})
	s.must(exitOK, "build", "-f", "a.yaml", "-d", "out")
	for _, name := range listed(t, "out") {
		s.write("out/"+name, strings.TrimPrefix(s.read("out/"+name), write.Header))
	}
	for _, golden := range []string{"out", "golden.yaml"} {
		got := s.must(exitDifferences, "check", "-f", "a.yaml", golden)
		if !strings.Contains(got.err, "; --update refuses: ") || !strings.Contains(got.err, "not written by valkey-render") {
			t.Errorf("%s: %s", golden, got.err)
		}
		s.must(exitError, "check", "-f", "a.yaml", golden, "--update")
	}
}

func TestTheDirectoryOfAnotherBuildIsNoticed(t *testing.T) {
	s := newSession(t, map[string]string{"a.yaml": smallest, "b.yaml": strings.ReplaceAll(smallest, "cache", "other")})
	s.must(exitOK, "build", "-f", "a.yaml", "-d", "out")
	if got := s.must(exitDifferences, "check", "-f", "b.yaml", "out"); !strings.Contains(got.err, "is it the directory of another build?") {
		t.Errorf("check: %s", got.err)
	}
	if got := s.must(exitOK, "build", "-f", "b.yaml", "-d", "out"); !strings.Contains(got.err, "was it the directory of another build?") {
		t.Errorf("build: %s", got.err)
	}
}

// TestEveryExampleIsCurrent: what is committed beside each example is what the
// command writes, byte for byte.
func TestEveryExampleIsCurrent(t *testing.T) {
	examples, err := filepath.Abs("../../../../examples")
	if err != nil {
		t.Fatal(err)
	}
	s := newSession(t, nil)
	goldens, err := filepath.Glob(examples + "/*/rendered")
	if err != nil {
		t.Fatal(err)
	}
	environments, err := filepath.Glob(examples + "/*/*/rendered")
	if err != nil || len(goldens) < 10 || len(environments) < 2 {
		t.Fatal(len(goldens), len(environments), err)
	}
	for _, golden := range append(goldens, environments...) {
		from := []string{"-f", filepath.Join(filepath.Dir(golden), "cluster.yaml")}
		if slices.Contains(environments, golden) {
			from = []string{"-k", filepath.Dir(golden)}
		}
		// They are written by a build that is no release.
		s.must(exitOK, append([]string{"check", golden, "--job-image", job.Image("")}, from...)...)
	}
}
