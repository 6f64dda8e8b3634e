// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package argument

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/valkey-render/valkey-render/topologyjob/plan"
	"github.com/valkey-render/valkey-render/topologyjob/slot"
)

func TestReshard(t *testing.T) {
	for text, want := range map[string]plan.Reshard{
		"from=0,to=1,slots=100":      {From: 0, To: 1, Count: 100},
		"from=3,to=12,slots=5-9":     {From: 3, To: 12, Slots: slot.Ranges{{First: 5, Last: 9}}},
		"from=3,to=12,slots=5-9,100": {From: 3, To: 12, Slots: slot.Ranges{{First: 5, Last: 9}, {First: 100, Last: 100}}},
	} {
		got, err := Reshard(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if diff := cmp.Diff(want, *got); diff != "" {
			t.Errorf("%s\n%s", text, diff)
		}
	}
	for _, text := range []string{
		"0,1,100", "from=0", "from=0,to=1,slots=", "from=0,to=1,slots=0", "from=0,to=1,slots=16385", "from=-1,to=1,slots=5", "from=0,to=x,slots=5",
		"to=0,from=1,slots=5", "from=0,to=1,slots=9-5", "from=0,to=1,slots=1,", "from=0,to=1,slots=0-16384",
	} {
		if r, err := Reshard(text); err == nil {
			t.Errorf("%s: %+v", text, r)
		}
	}
}

func FuzzReshard(f *testing.F) {
	f.Add("from=0,to=1,slots=100")
	f.Add("from=0,to=1,slots=5-9,100")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := Reshard(text)
		if err == nil && text != "" && (r.From < 0 || r.To < 0 || r.Count == 0 && len(r.Slots) == 0 || r.Count > 16384) {
			t.Errorf("%q: %+v", text, r)
		}
	})
}
