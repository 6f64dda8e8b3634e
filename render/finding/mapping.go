// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// SpecCode is the code of an error of Validate, by its type and path. An error
// at one of the parts that are not rendered yet is VR05xx when it is Forbidden
// and its detail says "not yet"; one at metadata.name is VR0401.
func SpecCode(e *field.Error) Code {
	if e.Type == field.ErrorTypeForbidden && strings.Contains(e.Detail, "not yet") {
		if code, ok := notYet(e.Field); ok {
			return code
		}
	}
	if strings.HasPrefix(e.Field, "metadata.name") && !strings.HasPrefix(e.Field, "metadata.namespace") &&
		e.Type != field.ErrorTypeRequired {
		return NameRefused
	}
	return byType(e.Type)
}

func notYet(path string) (Code, bool) {
	for _, part := range []struct {
		path string
		code Code
	}{
		{"spec.backup", BackupNotYet},
		{"spec.restoreFrom", RestoreNotYet},
		{"spec.replicateFrom", ReplicateNotYet},
		{"spec.networking.externalAccess", ExternalAccessNotYet},
		{"spec.jobs", RenderedJobsNotYet},
	} {
		if path == part.path || strings.HasPrefix(path, part.path+".") {
			return part.code, true
		}
	}
	return "", false
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
	case field.ErrorTypeTooShort:
		return TooShort
	case field.ErrorTypeNotFound:
		return NotFound
	case field.ErrorTypeTypeInvalid:
		return WrongType
	case field.ErrorTypeInternal:
		return Unchecked
	default:
		return Invalid
	}
}

// ConfigCode is the code of an error of the directive check:
//
//	NotFound, or any whose detail starts with "unknown directive"  VR0201
//	Forbidden at a path that is Secret                             VR0206
//	Forbidden otherwise (reserved)                                 VR0203
//	Duplicate                                                      VR0204
//	Required (another directive is needed)                         VR0205
//	the rest (type, range, enum, length)                           VR0202
func ConfigCode(e *field.Error) Code {
	switch {
	case e.Type == field.ErrorTypeNotFound, strings.HasPrefix(e.Detail, "unknown directive"):
		return UnknownDirective
	case e.Type == field.ErrorTypeForbidden && Secret(e.Field):
		return SecretDirective
	case e.Type == field.ErrorTypeForbidden:
		return ReservedDirective
	case e.Type == field.ErrorTypeDuplicate:
		return DuplicateDirective
	case e.Type == field.ErrorTypeRequired:
		return DirectiveRequires
	case e.Type == field.ErrorTypeInternal:
		return Unchecked
	default:
		return DirectiveValue
	}
}

// CommandCode is the code of an error of render/command: NotFound for a name that
// servers do not know.
func CommandCode(e *field.Error) Code {
	if e.Type == field.ErrorTypeNotFound {
		return UnknownCommand
	}
	return byType(e.Type)
}

// PatchCode is the code of an error of render/patch: Invalid for a patch that
// cannot be read, NotFound for one that matches nothing, Forbidden for one that
// touches what is protected (VR0305 when it deletes), TypeInvalid for one that
// cannot be applied.
func PatchCode(e *field.Error) Code {
	switch e.Type {
	case field.ErrorTypeNotFound:
		return PatchNoTarget
	case field.ErrorTypeForbidden:
		if strings.HasPrefix(e.Detail, "deletes ") {
			return PatchDeletes
		}
		return PatchProtected
	case field.ErrorTypeTypeInvalid:
		return PatchFailed
	case field.ErrorTypeDuplicate:
		return OutputCollision
	default:
		return PatchInvalid
	}
}
