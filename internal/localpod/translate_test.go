// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package localpod

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestPathsAreReplacedWhereTheyBeginAWord(t *testing.T) {
	p := newPaths("/tmp/r/c-0-0", &corev1.Container{VolumeMounts: []corev1.VolumeMount{
		{MountPath: "/data"}, {MountPath: "/valkey/run"}, {MountPath: "/valkey/run/deep/"}, {MountPath: "/tmp"},
	}})
	for in, want := range map[string]string{
		"/data":                               "/tmp/r/c-0-0/data",
		"/data/nodes.conf":                    "/tmp/r/c-0-0/data/nodes.conf",
		"/database":                           "/database",
		"dir /data\ninclude /valkey/run/x\n":  "dir /tmp/r/c-0-0/data\ninclude /tmp/r/c-0-0/valkey/run/x\n",
		`unixsocket "/tmp/s"`:                 `unixsocket "/tmp/r/c-0-0/tmp/s"`,
		"/data /data":                         "/tmp/r/c-0-0/data /tmp/r/c-0-0/data",
		"x/data":                              "x/data",
		"/valkey/running":                     "/valkey/running",
		"/valkey/run/deep/y":                  "/tmp/r/c-0-0/valkey/run/deep/y",
		"# valkey-render: end of valkey.conf": "# valkey-render: end of valkey.conf",
		"":                                    "",
	} {
		if got := p.text(in); got != want {
			t.Errorf("%q is %q, not %q", in, got, want)
		}
	}
}

func TestVariablesAreExpandedAsKubernetesDoes(t *testing.T) {
	known := map[string]string{"POD_IP": "127.1.0.1", "EMPTY": "", "NESTED": "$(POD_IP)"}
	for in, want := range map[string]string{
		"$(POD_IP)":         "127.1.0.1",
		"a$(POD_IP)b":       "a127.1.0.1b",
		"$(UNKNOWN)":        "$(UNKNOWN)",
		"$$(POD_IP)":        "$(POD_IP)",
		"$$$(POD_IP)":       "$127.1.0.1",
		"$":                 "$",
		"100$":              "100$",
		"$(POD_IP":          "$(POD_IP",
		"x$(EMPTY)y":        "xy",
		"$(NESTED)":         "$(POD_IP)",
		"$POD_IP ${POD_IP}": "$POD_IP ${POD_IP}",
	} {
		if got := expand(in, known); got != want {
			t.Errorf("%q is %q, not %q", in, got, want)
		}
	}
}

func FuzzExpand(f *testing.F) {
	f.Add("$(A)$$(A)$(")
	f.Fuzz(func(t *testing.T, s string) {
		if got := expand(s, nil); len(got) > len(s) {
			t.Errorf("%q grew to %q", s, got)
		}
		if !strings.Contains(s, "$") && expand(s, map[string]string{"A": "b"}) != s {
			t.Errorf("%q changed", s)
		}
	})
}

func FuzzPaths(f *testing.F) {
	f.Add("dir /data\n")
	p := newPaths("/r", &corev1.Container{VolumeMounts: []corev1.VolumeMount{{MountPath: "/data"}, {MountPath: "/r"}}})
	f.Fuzz(func(t *testing.T, s string) {
		got := p.text(s)
		// Only the root is put in, and only before a mount.
		if strings.Count(got, "/r") < strings.Count(s, "/r") || strings.ReplaceAll(got, "/r", "") != strings.ReplaceAll(s, "/r", "") {
			t.Errorf("%q became %q", s, got)
		}
	})
}

func TestMembersNeedTheirEnd(t *testing.T) {
	for text, want := range map[string]string{
		"replicas 2\nsentinels 3\n# valkey-render: end of members\n":          "{2 3} true",
		"replicas 0\nsentinels 0\n# valkey-render: end of members":            "{0 0} true",
		"replicas 2\nsentinels 3\n":                                           "{2 3} false",
		"replicas 2\n# valkey-render: end of members\n":                       "{2 -1} false",
		"replicas x\nsentinels 3\n# valkey-render: end of members\n":          "{-1 3} false",
		"# valkey-render: end of members\nreplicas 2\nsentinels 3\n":          "{2 3} false",
		"replicas 2\nsentinels 3\nother 4\n# valkey-render: end of members\n": "{2 3} true",
		"": "{-1 -1} false",
	} {
		file := filepath.Join(t.TempDir(), "members")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		m, ok := readMembers(file)
		if got := fmt.Sprint(m, ok); got != want {
			t.Errorf("%q: %s, not %s", text, got, want)
		}
	}
	if _, ok := readMembers(filepath.Join(t.TempDir(), "none")); ok {
		t.Error("a file that is not there is whole")
	}
}

func TestNetworksAreNotShared(t *testing.T) {
	dir := t.TempDir()
	first, err := claimNetwork(filepath.Join(dir, "first"))
	if err != nil {
		t.Fatal(err)
	}
	second, err := claimNetwork(filepath.Join(dir, "second"))
	if err != nil {
		t.Fatal(err)
	}
	defer second.close()
	if first.block == second.block {
		t.Fatal("two have the same network")
	}
	if a := second.address("a"); a != second.address("a") || a == second.address("b") {
		t.Error("a pod has no address of its own")
	}
	if err := first.close(); err != nil {
		t.Fatal(err)
	}
	again, err := claimNetwork(filepath.Join(dir, "first"))
	if err != nil {
		t.Fatal(err)
	}
	defer again.close()
	if again.block != first.block {
		t.Errorf("the directory had network %d and now has %d", first.block, again.block)
	}
	if got := again.nth(250); got != netip.AddrFrom4([4]byte{127, again.block, 1, 1}) {
		t.Errorf("the 251st address is %s", got)
	}
}

func TestTakenPortsAreNamed(t *testing.T) {
	n, err := claimNetwork(filepath.Join(t.TempDir(), "network"))
	if err != nil {
		t.Fatal(err)
	}
	defer n.close()
	a := n.address("a")
	taken, err := net.Listen("tcp4", netip.AddrPortFrom(a, 0).String())
	if err != nil {
		t.Fatal(err)
	}
	port := taken.Addr().(*net.TCPAddr).Port
	err = checkFree(a, int32(port))
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%s:%d: taken by another program", a, port)) {
		t.Error(err)
	}
	if err := taken.Close(); err != nil {
		t.Fatal(err)
	}
	if err := checkFree(a, int32(port)); err != nil {
		t.Error(err)
	}
}

func TestDirectoriesThatServersCannotUseAreRefused(t *testing.T) {
	for dir, want := range map[string]string{
		"relative":                    "not an absolute path",
		"/" + strings.Repeat("x", 40): "more than 40",
		"/tmp/a b":                    "blank or special character",
		`/tmp/a"b`:                    "blank or special character",
		"/tmp/ä":                      "blank or special character",
		"/nowhere-at-all":             "no such file",
		"/etc/passwd":                 "not a directory",
	} {
		if err := checkDir(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, not %q", dir, err, want)
		}
	}
}
