// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
)

// TestNamesAreThoseOfRenderName: api cannot import render/name, whose objects
// the rules for names protect.
func TestNamesAreThoseOfRenderName(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cluster := rapid.StringMatching(`[a-zA-Z0-9]?[-a-z0-9._]{0,4}(a{38})?(-[a-z0-9]{1,3}|-(nodes|primary|replicas|sentinel|live|scripts|bus|system))?`).Draw(t, "name")
		c := &v1alpha1.ValkeyCluster{}
		c.Name = cluster
		c.Default()
		refused := len(c.Validate()) > 0
		if why := name.Check(cluster); refused != (len(why) > 0) {
			t.Fatalf("%q: Validate refuses: %t; render/name says %v", cluster, refused, why)
		}
	})
}

// TestNothingOfAUserBecomesAnotherToken: what passes Validate holds neither a
// line break nor, where one token stands, a space.
func TestNothingOfAUserBecomesAnotherToken(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[a-z@~%&()+|* \n\r\t\x00\x0b\x85>#=-]{0,12}`)
		u := v1alpha1.UserSpec{
			Name:        text.Draw(t, "name"),
			Commands:    &v1alpha1.UserCommands{Allow: []string{text.Draw(t, "allow")}, Deny: []string{text.Draw(t, "deny")}},
			Keys:        &v1alpha1.UserKeys{ReadWrite: []string{text.Draw(t, "keys")}},
			Channels:    []string{text.Draw(t, "channels")},
			Permissions: text.Draw(t, "permissions"),
		}
		c := &v1alpha1.ValkeyCluster{}
		c.Name = "cache"
		c.Spec.Users = []v1alpha1.UserSpec{u}
		wrong := map[string]bool{}
		for _, err := range c.Validate() {
			wrong[err.Field] = true
		}
		for field, token := range map[string]string{
			"spec.users[0].name":              u.Name,
			"spec.users[0].commands.allow[0]": u.Commands.Allow[0],
			"spec.users[0].commands.deny[0]":  u.Commands.Deny[0],
			"spec.users[0].keys.readWrite[0]": u.Keys.ReadWrite[0],
			"spec.users[0].channels[0]":       u.Channels[0],
		} {
			if !wrong[field] && (token == "" || strings.ContainsAny(token, " \n\r\t\x00\x0b\u0085")) {
				t.Fatalf("%s: %q passes", field, token)
			}
		}
		if !wrong["spec.users[0].permissions"] && strings.ContainsAny(u.Permissions, "\n\r\t\x00\x0b>#\u0085") {
			// Behind ~, & and %…~ these are characters of a pattern.
			for rule := range strings.FieldsSeq(u.Permissions) {
				if strings.ContainsAny(rule, "\n\r\t\x00\x0b\u0085") || strings.HasPrefix(strings.TrimPrefix(rule, "("), ">") || strings.HasPrefix(strings.TrimPrefix(rule, "("), "#") {
					t.Fatalf("permissions %q pass", u.Permissions)
				}
			}
		}
	})
}
