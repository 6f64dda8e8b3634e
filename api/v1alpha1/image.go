// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// imageRef is an image reference taken apart.
type imageRef struct {
	repository string // with the registry
	tag        string // empty when none is given
	digest     string // "sha256:…", empty when none is given
	tagged     bool   // a colon announces a tag
	pinned     bool   // an at sign announces a digest
}

// parseImage takes an image reference apart without judging it. A colon counts
// as the start of the tag only behind the last slash, since a registry may have
// a port.
func parseImage(image string) imageRef {
	var ref imageRef
	ref.repository, ref.digest, ref.pinned = strings.Cut(image, "@")
	if i := strings.LastIndexByte(ref.repository, ':'); i > strings.LastIndexByte(ref.repository, '/') {
		ref.repository, ref.tag, ref.tagged = ref.repository[:i], ref.repository[i+1:], true
	}
	return ref
}

// MutableImage tells whether an image reference can mean another image tomorrow: it
// has neither a digest nor a tag other than latest.
func MutableImage(image string) bool {
	ref := parseImage(image)
	return ref.digest == "" && (ref.tag == "" || ref.tag == "latest")
}

// DefaultPullPolicy is the imagePullPolicy that the API server fills in for an
// image.
func DefaultPullPolicy(image string) corev1.PullPolicy {
	if MutableImage(image) {
		return corev1.PullAlways
	}
	return corev1.PullIfNotPresent
}

// The grammar of github.com/distribution/reference, as a runtime asks for it.
var (
	repositoryForm = regexp.MustCompile(`^[a-zA-Z0-9]([-a-zA-Z0-9.]*[a-zA-Z0-9])?(:[0-9]+)?(/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)*$`)
	tagForm        = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$`)
	digestForm     = regexp.MustCompile(`^[a-z0-9]+([+._-][a-z0-9]+)*:[0-9a-f]{32,}$`)
)

// invalid says what is wrong with a reference; empty when nothing is.
func (r imageRef) invalid() string {
	switch {
	case !repositoryForm.MatchString(r.repository):
		return "must be an image reference like docker.io/valkey/valkey:9.1"
	case r.tagged && !tagForm.MatchString(r.tag):
		return "the tag behind ':' must be letters, digits, '_', '.' and '-', at most 128"
	case r.pinned && !digestForm.MatchString(r.digest):
		return "the digest behind '@' must be like sha256: and 64 lower-case hex digits"
	}
	return ""
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
	if minor == "" || rest != "" && !strings.ContainsAny(rest[:1], ".-_") {
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
