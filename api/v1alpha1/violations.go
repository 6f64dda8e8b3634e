// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// violations collects what is wrong with an object, in the order of its fields.
type violations struct {
	list field.ErrorList
}

// invalid reports a value that its field cannot have.
func (v *violations) invalid(path *field.Path, value any, format string, args ...any) {
	v.list = append(v.list, field.Invalid(path, shown(path, value), fmt.Sprintf(format, args...)))
}

// forbidden reports a field that may not be set here.
func (v *violations) forbidden(path *field.Path, format string, args ...any) {
	v.list = append(v.list, field.Forbidden(path, fmt.Sprintf(format, args...)))
}

// required reports a field that must be set here.
func (v *violations) required(path *field.Path, format string, args ...any) {
	v.list = append(v.list, field.Required(path, fmt.Sprintf(format, args...)))
}

// duplicate reports the second of two equal values.
func (v *violations) duplicate(path *field.Path, value any) {
	v.list = append(v.list, field.Duplicate(path, shown(path, value)))
}

// oneOf reports a value that is none of those allowed, with the nearest of
// them. Nothing set is fine.
func oneOf[T ~string](v *violations, path *field.Path, value T, allowed ...T) {
	if value == "" {
		return
	}
	names := make([]string, 0, len(allowed))
	for _, a := range allowed {
		if a == value {
			return
		}
		names = append(names, string(a))
	}
	v.list = append(v.list, &field.Error{
		Type: field.ErrorTypeNotSupported, Field: path.String(), BadValue: shown(path, value),
		Detail: didYouMean(string(value), names) + "one of " + strings.Join(names, ", "),
	})
}

// within reports a number outside of its range.
func within[T int32 | int64](v *violations, path *field.Path, value *T, low, high T) {
	if value != nil && (*value < low || *value > high) {
		v.invalid(path, *value, "must be between %d and %d", low, high)
	}
}

// lasting reports a duration outside of its range.
func (v *violations) lasting(path *field.Path, value *metav1.Duration, low, high time.Duration) {
	if value != nil && (value.Duration < low || value.Duration > high) {
		v.invalid(path, value.Duration.String(), "must be between %s and %s", low, high)
	}
}

// subdomain reports a name of a Kubernetes object that is none. Nothing set is
// fine.
func (v *violations) subdomain(path *field.Path, name string) {
	if name == "" {
		return
	}
	if len(validation.IsDNS1123Subdomain(name)) > 0 {
		v.invalid(path, name, "must be lower-case letters, digits, '-' and '.', at most 253, with a letter or digit at both ends")
	}
}

// host reports a name of a host that DNS cannot have. Nothing set is fine.
func (v *violations) host(path *field.Path, name string) {
	before := len(v.list)
	if v.subdomain(path, name); len(v.list) > before {
		return
	}
	if longLabel(name) {
		v.invalid(path, name, "must have at most %d letters between two dots", validation.DNS1123LabelMaxLength)
	}
}

// longLabel says whether a part between two dots is longer than DNS allows.
func longLabel(name string) bool {
	return slices.ContainsFunc(strings.Split(name, "."), func(label string) bool {
		return len(label) > validation.DNS1123LabelMaxLength
	})
}

// key reports a key that no Secret can have. Nothing set is fine.
func (v *violations) key(path *field.Path, key string) {
	if key == "" {
		return
	}
	if len(validation.IsConfigMapKey(key)) > 0 {
		v.invalid(path, key, "must be letters, digits, '-', '_' and '.', at most 253")
	}
}

// secretRef reports a reference that names no Secret.
func (v *violations) secretRef(path *field.Path, ref *SecretKeyRef) {
	if ref == nil {
		return
	}
	if ref.Name == "" {
		v.required(path.Child("name"), "name of a Secret")
	}
	v.subdomain(path.Child("name"), ref.Name)
	v.key(path.Child("key"), ref.Key)
}

// printable reports text that holds a control character, which could end a line
// of a file that it is written to. Nothing set is fine.
func (v *violations) printable(path *field.Path, text string) bool {
	for _, r := range text {
		if unicode.IsControl(r) {
			v.invalid(path, text, "must not contain the control character %U", r)
			return false
		}
	}
	return true
}

// pullSecrets reports entries that name no Secret.
func (v *violations) pullSecrets(path *field.Path, secrets []corev1.LocalObjectReference) {
	seen := map[string]bool{}
	for i, s := range secrets {
		name := path.Index(i).Child("name")
		switch {
		case s.Name == "":
			v.required(name, "name of a Secret")
		case seen[s.Name]:
			v.duplicate(name, s.Name)
		}
		seen[s.Name] = true
		v.subdomain(name, s.Name)
	}
}

// image reports what is not an image reference. Nothing set is fine.
func (v *violations) image(path *field.Path, image string) bool {
	if image == "" {
		return true
	}
	if why := parseImage(image).invalid(); why != "" {
		v.invalid(path, image, "%s", why)
		return false
	}
	return true
}
