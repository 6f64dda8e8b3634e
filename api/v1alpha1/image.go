// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import "strings"

// imageRef is an image reference taken apart.
type imageRef struct {
	repository string // with the registry
	tag        string // empty when none is given
	digest     string // "sha256:…", empty when none is given
}

// parseImage takes an image reference apart without judging it. A colon counts
// as the start of the tag only behind the last slash, since a registry may have
// a port.
func parseImage(image string) imageRef {
	var ref imageRef
	ref.repository, ref.digest, _ = strings.Cut(image, "@")
	if i := strings.LastIndexByte(ref.repository, ':'); i > strings.LastIndexByte(ref.repository, '/') {
		ref.repository, ref.tag = ref.repository[:i], ref.repository[i+1:]
	}
	return ref
}

// minorVersion returns the "9.1" that a tag like v9.1.2-alpine names; empty
// when it names none.
func (r imageRef) minorVersion() string {
	tag := strings.TrimPrefix(r.tag, "v")
	major, rest := leadingDigits(tag)
	if major == "" || !strings.HasPrefix(rest, ".") {
		return ""
	}
	minor, rest := leadingDigits(rest[1:])
	if minor == "" || rest != "" && !strings.ContainsAny(rest[:1], ".-_+") {
		return ""
	}
	return major + "." + minor
}

func leadingDigits(s string) (digits, rest string) {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return s[:n], s[n:]
}
