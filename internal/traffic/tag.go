// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"strconv"

	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/slot"
)

// tags are what keys have between braces to be in a slot, one for each slot.
func tags() []string {
	all := make([]string, name.SlotCount)
	for i, left := 0, len(all); left > 0; i++ {
		tag := strconv.FormatInt(int64(i), 36)
		if at := slot.OfKey(tag); all[at] == "" {
			all[at] = tag
			left--
		}
	}
	return all
}
