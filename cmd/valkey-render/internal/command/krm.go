// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
)

// function is the KRM function.
func (r *buildRunner) function(context.Context) error {
	return errors.New("--output krm is not available in this version")
}
