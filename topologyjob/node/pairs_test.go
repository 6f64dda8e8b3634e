// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPairs(t *testing.T) {
	for name, c := range map[string]struct {
		reply any
		want  map[string]string
	}{
		"names and values":      {[]any{"save", "", "port", "6379"}, map[string]string{"save": "", "port": "6379"}},
		"a map":                 {map[string]any{"port": "6379", "n": int64(1)}, map[string]string{"port": "6379"}},
		"values that are lists": {[]any{"flags", []any{"on"}, "n", int64(1), "commands", "+@all"}, map[string]string{"commands": "+@all"}},
		"nothing":               {[]any{}, map[string]string{}},
		"a name without value":  {[]any{"save"}, nil},
		"no list":               {"OK", nil},
		"nil":                   {nil, nil},
	} {
		if diff := cmp.Diff(c.want, Pairs(c.reply)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestEachIsBounded, and does all of it.
func TestEachIsBounded(t *testing.T) {
	var now, most, done atomic.Int64
	Each(100, 3, func(int) {
		if n := now.Add(1); n > 3 {
			most.Store(n)
		}
		now.Add(-1)
		done.Add(1)
	})
	Each(0, 3, func(int) { done.Add(1) })
	if most.Load() > 0 || done.Load() != 100 {
		t.Errorf("%d at once, %d done", most.Load(), done.Load())
	}
}
