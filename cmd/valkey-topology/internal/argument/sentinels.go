// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package argument

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// Sentinel reads one --sentinel flag: as Pod does, of a pod whose name ends with
// -sentinel-INDEX.
func Sentinel(flag string, port int) (survey.Pod, error) { return place(flag, port, sentinelOrdinal) }

func sentinelOrdinal(name string) (shard, index int32, err error) {
	at := strings.LastIndexByte(name, '-')
	n, err := strconv.ParseInt(name[at+1:], 10, 32)
	if err != nil || n < 0 || !strings.HasSuffix(name[:max(at, 0)], "-sentinel") {
		return 0, 0, fmt.Errorf("name %q does not end with -sentinel-INDEX", name)
	}
	return 0, int32(n), nil
}
