// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package slot

import (
	"strings"

	"github.com/valkey-render/valkey-render/render/name"
)

// OfKey is the slot of a key: CRC16 (XMODEM) of what is between its first { and the next },
// if that is something, else of all of it.
func OfKey(key string) int {
	if _, rest, found := strings.Cut(key, "{"); found {
		if tag, _, closed := strings.Cut(rest, "}"); closed && tag != "" {
			key = tag
		}
	}
	crc := uint16(0)
	for i := range len(key) {
		crc ^= uint16(key[i]) << 8
		for range 8 {
			if carry := crc&0x8000 != 0; carry {
				crc = crc<<1 ^ 0x1021
			} else {
				crc <<= 1
			}
		}
	}
	return int(crc) % name.SlotCount
}
