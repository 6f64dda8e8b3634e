// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package acl

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
)

const (
	// CurrentSuffix ends the key of <cluster>-system with the password in use.
	CurrentSuffix = ".current"
	// NextSuffix ends the key of the password that a rotation is moving to. It is there
	// during a rotation only, and valid beside the current one.
	NextSuffix = ".next"
	// PreviousSuffix ends the key of the password that a rotation has moved from. It is
	// there during a rotation only, and valid beside the current one.
	PreviousSuffix = ".previous"
)

// FileKey is the key of <cluster>-acl with the file of data pods of a version.
func FileKey(version string) string { return version + ".acl" }

// SentinelFileKey is the key of <cluster>-acl with the file of sentinels.
func SentinelFileKey(version string) string { return version + ".sentinel.acl" }

// Hash returns the hash of a password as a Secret holds it: the lower-case hex
// SHA-256 of its bytes, or what the Secret holds itself when that is `#` and 64
// hex digits. An empty password is an error; bytes are taken as they are, a line
// end too.
func Hash(password []byte) (string, error) {
	if len(password) == 0 {
		return "", errors.New("empty password")
	}
	if given, found := strings.CutPrefix(string(password), "#"); found && isHash(strings.ToLower(given)) {
		return strings.ToLower(given), nil
	}
	sum := sha256.Sum256(password)
	return hex.EncodeToString(sum[:]), nil
}

// isHash says whether s is a SHA-256 in lower-case hexadecimal.
func isHash(s string) bool {
	return len(s) == 2*sha256.Size && strings.Trim(s, "0123456789abcdef") == ""
}

// SystemKeys are the keys of <cluster>-system that always exist: one password for
// each system user of any topology, and the exporter's file.
func SystemKeys() []string {
	var keys []string
	for _, user := range allSystemUsers() {
		keys = append(keys, user+CurrentSuffix)
	}
	return append(keys, name.ExporterFile)
}

// ExporterJSON is the content of the exporter's file: redis_exporter's map of
// address to password, with the password of the system user for it.
func ExporterJSON(c *v1alpha1.ValkeyCluster, password string) ([]byte, error) {
	if password == "" {
		return nil, fmt.Errorf("user %s: no password", name.UserExporter)
	}
	return json.Marshal(map[string]string{name.ExporterKey(c.Port(), c.TLSEnabled()): password})
}
