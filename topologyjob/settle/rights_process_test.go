// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package settle

import (
	"fmt"
	"strings"
	"testing"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/acl"
	"github.com/valkey-render/valkey-render/topologyjob/outcome"
)

// TestProcessTheOperatorMayAllThatIsSent: each kind, and what a survey of passwords asks, on
// a primary, a replica and a sentinel, without one refusal.
func TestProcessTheOperatorMayAllThatIsSent(t *testing.T) {
	t.Parallel()
	everyVersion(t, func(t *testing.T, version string) {
		v := newVault(t, v1alpha1.TopologySentinel, version)
		r := v.form(t, version)
		want(t, Live(within(t), r.options(t, v.dialer()), liveFile(t, version, "maxmemory 100mb")), outcome.Converged, "", "2 of 2")
		asked := true
		if _, report := v.rotate(within(t), t, r, version, v.dialer(), &asked); report.Result != outcome.Converged {
			t.Fatalf("%+v", report)
		}
		wanted, _ := v.mounted(t, version)
		wanted.ClientKill = true
		// One user less for each kind of server, and a password more that goes.
		for _, files := range []map[string][]acl.User{wanted.Data, wanted.Sentinel} {
			files[version] = append(files[version], acl.User{Name: "app", Rules: []string{"on", "nopass"}})
		}
		want(t, ACL(within(t), r.options(t, v.dialer()), wanted), outcome.Converged, "", "3 of 3")
		for _, files := range []map[string][]acl.User{wanted.Data, wanted.Sentinel} {
			files[version][len(files[version])-1].Rules = []string{"off"}
		}
		want(t, ACL(within(t), r.options(t, v.dialer()), wanted), outcome.Converged, "", "3 of 3")
		wanted, _ = v.mounted(t, version)
		want(t, ACL(within(t), r.options(t, v.dialer()), wanted), outcome.Converged, "", "3 of 3")
		for i, s := range r.servers {
			user, password := acl.DefaultUser, v.get("c-auth", v1alpha1.PasswordKey)
			if r.pods[i].Sentinel {
				user, password = name.UserOperator, v.get("c-system", name.UserOperator+acl.CurrentSuffix)
			}
			c, err := as(t, s, user, password)
			if err != nil {
				t.Fatal(err)
			}
			log, err := c.Do("ACL", "LOG")
			if err != nil {
				t.Fatal(err)
			}
			for _, entry := range log.([]any) {
				// A password that is not there yet, or no more, is tried all the same.
				if text := fmt.Sprint(entry); strings.Contains(text, "username _") && !strings.Contains(text, "reason auth") {
					t.Errorf("server %d refused: %s", i, text)
				}
			}
		}
	})
}
