// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// conflict reports whether an error is nothing but conflicts. Of several that are joined,
// apierrors.IsConflict would look at the first alone, and a conflict would hide the others.
func conflict(err error) bool {
	for err != nil {
		if joined, ok := err.(interface{ Unwrap() []error }); ok {
			for _, one := range joined.Unwrap() {
				if !conflict(one) {
					return false
				}
			}
			return true
		}
		inner := errors.Unwrap(err)
		if inner == nil {
			return apierrors.IsConflict(err)
		}
		err = inner
	}
	return false
}
