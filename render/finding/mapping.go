// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package finding

import "k8s.io/apimachinery/pkg/util/validation/field"

// WithCode says what code a field error has as a finding: its Origin becomes the
// code. It returns e.
func WithCode(e *field.Error, code Code) *field.Error { return e.WithOrigin(string(code)) }

// codeOf is the code of a field error: the one that WithCode gave it; VR0401 for
// one at metadata.name, unless the name is missing; else what its type says. Texts
// have no say in it.
func codeOf(e *field.Error) Code {
	if info, found := Lookup(Code(e.Origin)); found {
		return info.Code
	}
	if e.Field == "metadata.name" && e.Type != field.ErrorTypeRequired {
		return NameRefused
	}
	return byType(e.Type)
}

func byType(t field.ErrorType) Code {
	switch t {
	case field.ErrorTypeRequired:
		return Required
	case field.ErrorTypeNotSupported:
		return NotSupported
	case field.ErrorTypeForbidden:
		return Forbidden
	case field.ErrorTypeDuplicate:
		return Duplicate
	case field.ErrorTypeTooLong, field.ErrorTypeTooMany:
		return TooLong
	case field.ErrorTypeTypeInvalid:
		return WrongType
	case field.ErrorTypeInternal:
		return Unchecked
	default:
		return Invalid
	}
}
