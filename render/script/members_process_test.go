// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package script_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/valkey-render/valkey-render/internal/servertest"
	"github.com/valkey-render/valkey-render/render/script"
)

func TestProcessMembersComeFromTheConfigMap(t *testing.T) {
	t.Parallel()
	const data, sentinel = "queue-0-1", "queue-sentinel-2"
	for name, tc := range map[string]struct {
		pod, fqdn, file string
		env             []string
		want            string
	}{
		"data pod": {
			data, data + ".queue-nodes.jobs.svc.kube.example.net", script.Members(1, 0), nil,
			"1|queue-0-0.queue-nodes.jobs.svc.kube.example.net queue-0-1.queue-nodes.jobs.svc.kube.example.net|",
		},
		"data pod with sentinels": {
			data, data + ".queue-nodes.jobs.svc.cluster.local", script.Members(1, 2), nil,
			"1|queue-0-0.queue-nodes.jobs.svc.cluster.local queue-0-1.queue-nodes.jobs.svc.cluster.local|queue-sentinel-0.queue-sentinel.jobs.svc.cluster.local queue-sentinel-1.queue-sentinel.jobs.svc.cluster.local",
		},
		"sentinel pod": {
			sentinel, sentinel + ".queue-sentinel.jobs.svc.cluster.local", script.Members(1, 1), nil,
			"1|queue-0-0.queue-nodes.jobs.svc.cluster.local queue-0-1.queue-nodes.jobs.svc.cluster.local|queue-sentinel-0.queue-sentinel.jobs.svc.cluster.local",
		},
		"name with dashes": {
			"a-b-12-0", "a-b-12-0.a-b-nodes.x.svc.cluster.local", script.Members(0, 0), nil,
			"0|a-b-12-0.a-b-nodes.x.svc.cluster.local|",
		},
		"data pod that is one too many": {
			"queue-0-2", "queue-0-2.queue-nodes.jobs.svc.cluster.local", script.Members(0, 0), nil,
			"2|queue-0-0.queue-nodes.jobs.svc.cluster.local queue-0-1.queue-nodes.jobs.svc.cluster.local queue-0-2.queue-nodes.jobs.svc.cluster.local|",
		},
		"number missing":     {data, data + ".queue-nodes.jobs.svc.cluster.local", "replicas\nsentinels 0\n" + script.EndMarker("members") + "\n", nil, "||"},
		"no number":          {data, data + ".queue-nodes.jobs.svc.cluster.local", "replicas x\nsentinels 0\n" + script.EndMarker("members") + "\n", nil, "||"},
		"emptied file":       {data, data + ".queue-nodes.jobs.svc.cluster.local", "", nil, "||"},
		"file cut short":     {data, data + ".queue-nodes.jobs.svc.cluster.local", "replicas 1\n", nil, "||"},
		"environment counts": {data, data + ".x", script.Members(1, 0), []string{"VALKEY_PEERS=a:1 b:2", "VALKEY_REPLICAS=7"}, "7|a:1 b:2|"},
	} {
		for _, shell := range []string{"dash", "busybox"} {
			t.Run(name+"/"+shell, func(t *testing.T) {
				root := t.TempDir()
				for file, text := range map[string]string{"scripts/lib.sh": script.Files()["lib.sh"], "scripts/members.sh": script.Files()["members.sh"], "scripts/client.sh": script.Files()["client.sh"], "live/members": tc.file} {
					path := filepath.Join(root, file)
					if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				args := []string{"-c", `set -u; SCRIPTS=$VALKEY_ROOT/scripts; . "$SCRIPTS/lib.sh"; members; printf '%s|%s|%s' "${VALKEY_REPLICAS:-}" "${VALKEY_PEERS:-}" "${VALKEY_SENTINELS:-}"`}
				if shell == "busybox" {
					args = append([]string{"sh"}, args...)
				}
				cmd := exec.Command(servertest.Tool(t, shell), args...)
				cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "VALKEY_ROOT=" + root, "POD_NAME=" + tc.pod, "VALKEY_FQDN=" + tc.fqdn}, tc.env...)
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				if got := string(out); got != tc.want {
					t.Errorf("got  %s\nwant %s", strings.ReplaceAll(got, " ", "\n     "), tc.want)
				}
			})
		}
	}
}
