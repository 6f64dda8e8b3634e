// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"reflect"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// notShown stands in errors for a value that may be a password. Errors end up in
// logs of pipelines, which more people read than the Secret.
const notShown = "(not shown)"

// shown returns a value as an error may show it: text that has the form of a
// password where one is often put is masked.
func shown(path *field.Path, value any) any {
	text := reflect.ValueOf(value)
	if text.Kind() != reflect.String {
		return value
	}
	if HoldsPassword(path.String(), text.String()) {
		return notShown
	}
	return value
}

// HoldsPassword says whether a text at a path of the spec has the form of a
// password where one is often put by mistake: credentials before a host, or an ACL
// rule among those of users. Nothing that is said of such a value may quote it.
func HoldsPassword(path, text string) bool {
	return hasUserinfo(text) || strings.Contains(path, ".users[") && hasPasswordRule(text)
}

// imageDigest is what stands behind the '@' of an image.
var imageDigest = regexp.MustCompile(`^sha[0-9]+:`)

// hasUserinfo says whether a text may hold credentials as a URL does: something
// before an '@' that is a scheme or holds a colon. A digest of an image is none.
func hasUserinfo(text string) bool {
	for i := range len(text) {
		if text[i] != '@' || imageDigest.MatchString(text[i+1:]) {
			continue
		}
		before := text[:i]
		if strings.Contains(before, "://") || strings.Contains(before[strings.LastIndexByte(before, '/')+1:], ":") {
			return true
		}
	}
	return false
}

// hasPasswordRule says whether a text holds an ACL rule with a password, or its
// hash.
func hasPasswordRule(text string) bool {
	for word := range strings.FieldsSeq(text) {
		if rule := strings.TrimLeft(word, "("); rule != "" && strings.IndexByte("<>#!", rule[0]) >= 0 {
			return true
		}
	}
	return false
}

// exporterArg reports an argument that holds a password: the output is kept in
// Git, and arguments are in every description of a pod.
func (v *violations) exporterArg(at *field.Path, arg string) bool {
	name, value, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
	switch {
	case !strings.HasPrefix(arg, "-"):
		if hasUserinfo(arg) {
			v.forbidden(at, "holds credentials: the exporter logs in with a password of its own")
			return false
		}
	case name == "redis.password":
		v.forbidden(at, "a password belongs in a Secret, and the exporter has one of its own already")
		return false
	case strings.Contains(value, "://") && strings.Contains(value, "@"), hasUserinfo(value):
		v.forbidden(at, "holds credentials: the exporter logs in with a password of its own")
		return false
	}
	return true
}
