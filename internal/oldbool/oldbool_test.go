// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package oldbool_test

import (
	"strings"
	"testing"

	"github.com/valkey-render/valkey-render/internal/oldbool"
)

func TestWordsOfYAML11AreBooleansInThreeSpellings(t *testing.T) {
	for word, want := range map[string]bool{"y": true, "yes": true, "on": true, "n": false, "no": false, "off": false} {
		for _, spelling := range []string{word, strings.ToUpper(word), strings.ToUpper(word[:1]) + word[1:]} {
			if value, found := oldbool.Read(spelling); !found || value != want {
				t.Errorf("Read(%q) = %t, %t; want %t", spelling, value, found, want)
			}
		}
	}
	for _, text := range []string{"", "true", "False", "yEs", "oN", "nope", "yes "} {
		if _, found := oldbool.Read(text); found {
			t.Errorf("%q is held for a word of YAML 1.1", text)
		}
	}
}
