// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import "testing"

func TestTextInTheFormOfAPasswordIsNotQuoted(t *testing.T) {
	for text, want := range map[string]bool{
		"user:pw@host":                                            true,
		"https://token@host/path":                                 true,
		"redis://:pw@host:6379":                                   true,
		"registry.example.com:5000/u:p@w/image":                   true,
		"registry.example.com:5000/valkey:9.1":                    false,
		"valkey:9.1@sha256:" + "0123456789abcdef0123456789abcdef": false,
		"app@example.com":                                         false,
		"https://host":                                            false,
		"":                                                        false,
	} {
		if got := HoldsPassword("spec.image", text); got != want {
			t.Errorf("%q: %t, want %t", text, got, want)
		}
	}
	for text, want := range map[string]bool{
		">pw": true, "a >pw": true, "(~a <pw": true, "#0123": true, "!0123": true,
		"~a": false, "+get": false, "app:*": false, "a>b": false, "": false,
	} {
		if got := HoldsPassword("spec.users[0].permissions", text); got != want {
			t.Errorf("%q: %t, want %t", text, got, want)
		}
	}
	if HoldsPassword("spec.config[maxmemory]", ">pw") {
		t.Error("rules stand below users only")
	}
}
