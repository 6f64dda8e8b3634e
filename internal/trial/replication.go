// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/acl"
	"github.com/valkey-render/valkey-render/topologyjob/node"
)

// sentinelLogin is who sentinels log in as at servers.
func (t *Trial) sentinelLogin() (node.Login, error) {
	data := t.secrets[name.SystemSecret(t.current.Cluster.Name)].Data
	return node.Login{User: name.UserSentinel, Passwords: []string{string(data[name.UserSentinel+acl.CurrentSuffix])}}, nil
}

// primaryFile names the primary of servers that were stopped in order: it has every write,
// and a restart of all of them at once leaves no other trace of that.
func (t *Trial) primaryFile() string { return filepath.Join(t.opts.Dir, "primary") }

func (t *Trial) lastPrimary() (string, error) {
	text, err := os.ReadFile(t.primaryFile())
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return strings.TrimSpace(string(text)), err
}

// rememberPrimary is called before all servers are stopped.
func (t *Trial) rememberPrimary(ctx context.Context) error {
	var primaries []string
	for _, s := range t.servers(ctx) {
		if s.Role == "primary" {
			primaries = append(primaries, s.Pod)
		}
	}
	if t.current.Cluster.IsCluster() || len(primaries) != 1 {
		return nil
	}
	return os.WriteFile(t.primaryFile(), []byte(primaries[0]+"\n"), 0o600)
}

// forgetPrimary is called when servers run: who is the primary may change.
func (t *Trial) forgetPrimary() error {
	err := os.Remove(t.primaryFile())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
