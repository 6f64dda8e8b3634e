// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package slot

import "testing"

// TestOfKey: what CLUSTER KEYSLOT says.
func TestOfKey(t *testing.T) {
	for key, want := range map[string]int{
		"": 0, "123456789": 12739, "foo": 12182, "{foo}bar": 12182, "bar{foo}{x}": 12182, "a{foo": 113, "{}foo": 9500, "{{foo}}": 13308, "\x00\xff": 7920,
	} {
		if got := OfKey(key); got != want {
			t.Errorf("%q: %d, not %d", key, got, want)
		}
	}
}
