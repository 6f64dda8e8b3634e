// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"fmt"
	"strconv"
	"strings"
)

// Info is the reply to INFO or CLUSTER INFO: values by name.
type Info map[string]string

// ParseInfo reads lines "name:value"; headings and what is no such line are left out.
func ParseInfo(text string) Info {
	info := Info{}
	for line := range strings.Lines(text) {
		name, value, found := strings.Cut(strings.TrimRight(line, "\r\n"), ":")
		if found && name != "" && !strings.HasPrefix(name, "#") {
			info[name] = value
		}
	}
	return info
}

// Int is a value that is a number; a missing one is an error that names it.
func (i Info) Int(name string) (int64, error) {
	value, found := i[name]
	if !found {
		return 0, fmt.Errorf("INFO has no %s", name)
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("INFO %s: %w", name, err)
	}
	return n, nil
}

// Keys is the number of keys in all databases.
func (i Info) Keys() (int64, error) {
	databases, err := i.Databases()
	sum := int64(0)
	for _, n := range databases {
		sum += n
	}
	return sum, err
}

// Databases are the numbers of keys by database, from lines such as
// "db0:keys=5,expires=0,avg_ttl=0".
func (i Info) Databases() (map[int]int64, error) {
	keys := map[int]int64{}
	for name, value := range i {
		text, isDB := strings.CutPrefix(name, "db")
		number, err := strconv.ParseUint(text, 10, 31)
		if !isDB || err != nil {
			continue
		}
		first, _, _ := strings.Cut(value, ",")
		count, found := strings.CutPrefix(first, "keys=")
		n, err := strconv.ParseInt(count, 10, 64)
		if !found || err != nil || n < 0 {
			return nil, fmt.Errorf("INFO %s:%s does not begin with a number of keys", name, value)
		}
		keys[int(number)] = n
	}
	return keys, nil
}

// Version is the server's version, such as 9.1.2.
func (i Info) Version() string {
	if v := i["valkey_version"]; v != "" {
		return v
	}
	return i["redis_version"]
}
