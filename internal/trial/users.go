// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"context"
	"fmt"

	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/acl"
	"github.com/valkey-render/valkey-render/topologyjob/setting"
	"github.com/valkey-render/valkey-render/topologyjob/settle"
)

// setUsers runs what a Job of kind acl runs: it makes the users of every running server
// those of the ACL files, without a restart.
func (t *Trial) setUsers(ctx context.Context) error {
	dialer, err := t.dialer()
	if err != nil {
		return err
	}
	version := t.current.Cluster.ServerVersion()
	wanted := settle.Users{Data: map[string][]acl.User{}, Sentinel: map[string][]acl.User{}, Login: dialer.Login}
	for key, users := range map[string]map[string][]acl.User{acl.FileKey(version): wanted.Data, acl.SentinelFileKey(version): wanted.Sentinel} {
		text, there := t.secrets[name.ACLSecret(t.current.Cluster.Name)].Data[key]
		if !there {
			continue
		}
		if users[version], err = setting.ParseUsers(string(text)); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	if _, err := t.settle(ctx, func(o settle.Options) settle.Report { return settle.ACL(ctx, o, wanted) }); err != nil {
		return fmt.Errorf("users: %w", err)
	}
	return nil
}
