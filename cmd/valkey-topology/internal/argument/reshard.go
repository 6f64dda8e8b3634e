// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package argument

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/plan"
	"github.com/valkey-render/valkey-render/topologyjob/slot"
)

// Reshard reads from=0,to=1,slots=100 or slots=0-99, which may be followed by more
// ranges.
func Reshard(text string) (*plan.Reshard, error) {
	if text == "" {
		return nil, nil
	}
	shape := errors.New("must be from=N,to=N,slots=COUNT or from=N,to=N,slots=FIRST-LAST")
	fields := strings.SplitN(text, ",", 3)
	if len(fields) != 3 {
		return nil, shape
	}
	var r plan.Reshard
	for i, key := range []string{"from", "to", "slots"} {
		value, found := strings.CutPrefix(fields[i], key+"=")
		if !found {
			return nil, shape
		}
		if key == "slots" && strings.ContainsAny(value, "-,") {
			slots, err := slot.Parse(value)
			if err != nil {
				return nil, err
			}
			r.Slots = slots
			continue
		}
		n, err := strconv.ParseInt(value, 10, 32)
		if err != nil || n < 0 || key == "slots" && (n == 0 || n > name.SlotCount) {
			return nil, fmt.Errorf("%s=%s: no such number", key, value)
		}
		switch key {
		case "from":
			r.From = int32(n)
		case "to":
			r.To = int32(n)
		default:
			r.Count = int(n)
		}
	}
	return &r, nil
}
