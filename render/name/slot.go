// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package name

// SlotCount is the number of hash slots of a Valkey Cluster.
const SlotCount = 16384

// Slots are the first and the last hash slot that a shard gets at bootstrap:
// round(shard*16384/shards) up to round((shard+1)*16384/shards)-1, halves up.
// It panics when shard is not in 0..shards-1 or shards is not in 1..16384.
func Slots(shard, shards int32) (first, last int) {
	if shards < 1 || shards > SlotCount || shard < 0 || shard >= shards {
		panic("name.Slots: shard " + itoa(shard) + " of " + itoa(shards))
	}
	return boundary(int(shard), int(shards)), boundary(int(shard)+1, int(shards)) - 1
}

func boundary(i, shards int) int {
	return (2*i*SlotCount + shards) / (2 * shards)
}
