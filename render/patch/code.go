// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package patch

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/valkey-render/valkey-render/render/finding"
)

// coded gives the errors of one patch their codes, unless they have one: a patch
// that cannot be read, that matches nothing, that touches what is protected or that
// cannot be applied. It returns errs.
func coded(errs field.ErrorList) field.ErrorList {
	for i, e := range errs {
		if e.Origin != "" {
			continue
		}
		code := finding.PatchInvalid
		switch e.Type {
		case field.ErrorTypeNotFound:
			code = finding.PatchNoTarget
		case field.ErrorTypeForbidden:
			code = finding.PatchProtected
		case field.ErrorTypeTypeInvalid:
			code = finding.PatchFailed
		}
		errs[i] = finding.WithCode(e, code)
	}
	return errs
}
