// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package conf

import (
	"fmt"
	"strings"
)

func writeLine(name, value string) (string, error) {
	if strings.ContainsAny(value, "\n\r\x00") {
		return "", fmt.Errorf("%s: value holds a line break", name)
	}
	if value == "" {
		value = `""`
	}
	return name + " " + value, nil
}

func liveClass(_, name string) bool {
	switch name {
	case "io-threads", "databases", "loadmodule", "tcp-backlog":
		return false
	}
	return true
}

func known(string, string, string) bool { return true }
