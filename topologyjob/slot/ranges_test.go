// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package slot

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// bits is the set as the plainest thing that can hold it.
func bits(s Ranges) map[int]bool {
	m := map[int]bool{}
	for _, r := range s {
		for i := r.First; i <= r.Last; i++ {
			m[i] = true
		}
	}
	return m
}

func drawn(t *rapid.T, label string) Ranges {
	var ranges []Range
	for range rapid.IntRange(0, 6).Draw(t, label) {
		first := rapid.IntRange(0, 60).Draw(t, "first")
		ranges = append(ranges, Range{First: first, Last: first + rapid.IntRange(0, 12).Draw(t, "more")})
	}
	return Of(ranges...)
}

func TestSetsBehaveAsSetsOfSlots(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawn(t, "a"), drawn(t, "b")
		inA, inB := bits(a), bits(b)
		plus, and, minus := bits(a.Plus(b)), bits(a.And(b)), bits(a.Minus(b))
		for i := range 80 {
			if plus[i] != (inA[i] || inB[i]) || and[i] != (inA[i] && inB[i]) || minus[i] != (inA[i] && !inB[i]) {
				t.Fatalf("slot %d: %v and %v: plus %v, and %v, minus %v", i, a, b, a.Plus(b), a.And(b), a.Minus(b))
			}
			if a.Contains(i) != inA[i] {
				t.Fatalf("%v contains %d: %v", a, i, a.Contains(i))
			}
		}
		if a.Count() != len(inA) {
			t.Fatalf("%v has %d slots, not %d", a, len(inA), a.Count())
		}
		if a.Covers(b) != (len(minusOf(inB, inA)) == 0) {
			t.Fatalf("%v covers %v: %v", a, b, a.Covers(b))
		}
		n := rapid.IntRange(0, 20).Draw(t, "n")
		if taken := a.Take(n); taken.Count() != min(n, a.Count()) || !a.Covers(taken) {
			t.Fatalf("%v, %d taken: %v", a, n, taken)
		}
		for i, r := range a {
			if r.Last < r.First || i > 0 && r.First <= a[i-1].Last+1 {
				t.Fatalf("%v is not in its one form", a)
			}
		}
		back, err := Parse(a.String())
		if err != nil || cmp.Diff(a, back) != "" {
			t.Fatalf("%v read back: %v, %v", a, back, err)
		}
	})
}

func minusOf(a, b map[int]bool) map[int]bool {
	rest := map[int]bool{}
	for i := range a {
		if !b[i] {
			rest[i] = true
		}
	}
	return rest
}

func TestParseRefusesWhatIsNoSlot(t *testing.T) {
	for _, text := range []string{"-", "1-", "-1", "5-4", "16384", "0-16384", "01", "+1", "1,,2", " 1", "a", "1-2-3"} {
		if set, err := Parse(text); err == nil {
			t.Errorf("%q is %v", text, set)
		}
	}
}

func TestBootstrapCoversEverySlotOnce(t *testing.T) {
	for _, shards := range []int32{1, 2, 3, 5, 50, 500} {
		var all Ranges
		sum := 0
		for i := range shards {
			its := Bootstrap(i, shards)
			all, sum = all.Plus(its), sum+its.Count()
		}
		if sum != 16384 || cmp.Diff(All(), all) != "" {
			t.Errorf("%d shards: %v, %d slots", shards, all, sum)
		}
	}
}

func TestJSONIsTheText(t *testing.T) {
	for _, set := range []Ranges{nil, All(), {{1, 1}, {3, 4}}} {
		data, err := json.Marshal(set)
		if err != nil {
			t.Fatal(err)
		}
		var back Ranges
		if err := json.Unmarshal(data, &back); err != nil || cmp.Diff(set, back) != "" {
			t.Errorf("%s read back: %v, %v", data, back, err)
		}
	}
	var set Ranges
	if err := json.Unmarshal([]byte(`"5-4"`), &set); err == nil {
		t.Errorf("5-4 is %v", set)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"", "none", "0-5460,5462", "16383", "3,1-2"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		set, err := Parse(text)
		if err != nil {
			return
		}
		back, err := Parse(set.String())
		if err != nil || cmp.Diff(set, back) != "" {
			t.Errorf("%q is %v, read back %v, %v", text, set, back, err)
		}
	})
}
