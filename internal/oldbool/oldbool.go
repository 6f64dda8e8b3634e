// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package oldbool holds the words that YAML 1.1, which kubectl reads, takes for
// booleans and YAML 1.2 for text.
package oldbool

// Read returns what YAML 1.1 makes of a plain scalar, and whether it is one of the
// words: y, yes, on, n, no and off in lower case, upper case or with a capital.
// true and false are booleans in every version and are none of them.
func Read(word string) (value, found bool) {
	switch word {
	case "y", "Y", "yes", "Yes", "YES", "on", "On", "ON":
		return true, true
	case "n", "N", "no", "No", "NO", "off", "Off", "OFF":
		return false, true
	}
	return false, false
}
