// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package slot

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/valkey-render/valkey-render/render/name"
)

// Range is the slots First to Last, both included.
type Range struct{ First, Last int }

// String is "93" for one slot, else "0-5460", as CLUSTER NODES writes it.
func (r Range) String() string {
	if r.First == r.Last {
		return strconv.Itoa(r.First)
	}
	return strconv.Itoa(r.First) + "-" + strconv.Itoa(r.Last)
}

// ParseRange reads "93" or "0-5460".
func ParseRange(text string) (Range, error) {
	first, last, several := strings.Cut(text, "-")
	if !several {
		last = first
	}
	r := Range{First: number(first), Last: number(last)}
	if r.First < 0 || r.Last < r.First {
		return Range{}, fmt.Errorf("slots %q: not a slot or two slots in order, of 0 to %d", text, name.SlotCount-1)
	}
	return r, nil
}

// number is -1 unless the text is a slot in plain decimal digits.
func number(text string) int {
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil || n >= name.SlotCount || strconv.FormatUint(n, 10) != text {
		return -1
	}
	return int(n)
}

// Ranges is a set of slots: ranges in ascending order that neither overlap nor touch. The
// zero value is the empty set. Functions return new sets and change none.
type Ranges []Range

// Of makes a set of ranges in any order that may overlap.
func Of(ranges ...Range) Ranges {
	sorted := slices.SortedFunc(slices.Values(ranges), func(a, b Range) int { return a.First - b.First })
	var set Ranges
	for _, r := range sorted {
		if n := len(set); n > 0 && r.First <= set[n-1].Last+1 {
			set[n-1].Last = max(set[n-1].Last, r.Last)
			continue
		}
		set = append(set, r)
	}
	return set
}

// All is every slot.
func All() Ranges { return Ranges{{First: 0, Last: name.SlotCount - 1}} }

// Bootstrap are the slots that a shard of so many gets when a cluster is formed.
func Bootstrap(shard, shards int32) Ranges {
	first, last := name.Slots(shard, shards)
	return Ranges{{First: first, Last: last}}
}

// Count is how many slots are in the set.
func (s Ranges) Count() int {
	n := 0
	for _, r := range s {
		n += r.Last - r.First + 1
	}
	return n
}

// Contains reports whether a slot is in the set.
func (s Ranges) Contains(slot int) bool {
	_, found := slices.BinarySearchFunc(s, slot, func(r Range, slot int) int {
		switch {
		case r.Last < slot:
			return -1
		case r.First > slot:
			return 1
		}
		return 0
	})
	return found
}

// Plus is every slot of either set.
func (s Ranges) Plus(other Ranges) Ranges { return Of(append(slices.Clone(s), other...)...) }

// And is every slot of both sets.
func (s Ranges) And(other Ranges) Ranges {
	var both Ranges
	for i, j := 0, 0; i < len(s) && j < len(other); {
		first, last := max(s[i].First, other[j].First), min(s[i].Last, other[j].Last)
		if first <= last {
			both = append(both, Range{First: first, Last: last})
		}
		if s[i].Last < other[j].Last {
			i++
		} else {
			j++
		}
	}
	return both
}

// Minus is every slot of this set that the other one lacks.
func (s Ranges) Minus(other Ranges) Ranges {
	var rest Ranges
	j := 0
	for _, r := range s {
		for j < len(other) && other[j].Last < r.First {
			j++
		}
		for k := j; k < len(other) && other[k].First <= r.Last; k++ {
			if other[k].First > r.First {
				rest = append(rest, Range{First: r.First, Last: other[k].First - 1})
			}
			r.First = other[k].Last + 1
		}
		if r.First <= r.Last {
			rest = append(rest, r)
		}
	}
	return rest
}

// Covers reports whether every slot of the other set is in this one.
func (s Ranges) Covers(other Ranges) bool { return len(other.Minus(s)) == 0 }

// Take is the set's lowest slots, at most n of them.
func (s Ranges) Take(n int) Ranges {
	var taken Ranges
	for _, r := range s {
		if n <= 0 {
			break
		}
		r.Last = min(r.Last, r.First+n-1)
		n -= r.Last - r.First + 1
		taken = append(taken, r)
	}
	return taken
}

// String is "0-5460,5462", or "none".
func (s Ranges) String() string {
	if len(s) == 0 {
		return "none"
	}
	parts := make([]string, len(s))
	for i, r := range s {
		parts[i] = r.String()
	}
	return strings.Join(parts, ",")
}

// Parse reads what String writes; "" is the empty set too.
func Parse(text string) (Ranges, error) {
	if text == "" || text == "none" {
		return nil, nil
	}
	var ranges []Range
	for part := range strings.SplitSeq(text, ",") {
		r, err := ParseRange(part)
		if err != nil {
			return nil, err
		}
		ranges = append(ranges, r)
	}
	return Of(ranges...), nil
}

// MarshalJSON writes the text form.
func (s Ranges) MarshalJSON() ([]byte, error) { return json.Marshal(s.String()) }

// UnmarshalJSON reads the text form.
func (s *Ranges) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	set, err := Parse(text)
	*s = set
	return err
}

// ParseList reads ranges between blanks, as CLUSTER GETSLOTMIGRATIONS writes them.
func ParseList(text string) (Ranges, error) {
	var ranges []Range
	for part := range strings.FieldsSeq(text) {
		r, err := ParseRange(part)
		if err != nil {
			return nil, err
		}
		ranges = append(ranges, r)
	}
	return Of(ranges...), nil
}
