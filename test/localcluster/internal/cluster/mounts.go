// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"
	"os"
	"strings"
)

// unmounted makes sure that nothing is mounted below a directory that is to be removed.
// Hosts mount in namespaces of their own, so that nothing should be; to remove what is
// mounted there would remove it where it comes from.
func unmounted(dir string) error {
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return fmt.Errorf("mounts: %w", err)
	}
	for line := range strings.Lines(string(table)) {
		fields := strings.Fields(line)
		if len(fields) > 4 && (fields[4] == dir || strings.HasPrefix(fields[4], dir+"/")) {
			return fmt.Errorf("mounts: %s is mounted below the state directory; unmount it first", fields[4])
		}
	}
	return nil
}
