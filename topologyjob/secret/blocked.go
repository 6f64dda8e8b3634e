// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package secret

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
)

// Reason says why nothing is written.
type Reason string

const (
	// Missing: a Secret or key that the spec refers to is not there or empty. Somebody
	// may be about to make it.
	Missing Reason = "SecretMissing"
	// Foreign: a Secret has the name of one of ours and is not.
	Foreign Reason = "SecretForeign"
	// Lost: the password of a system user is gone that running servers know.
	Lost Reason = "PasswordLost"
)

// Problem is one thing that keeps the Secrets from being written.
type Problem struct {
	Reason Reason
	// Text names the Secret, and never what is in it.
	Text string
}

// BlockedError is everything that keeps the Secrets of a cluster from being written.
// Nothing is written then.
type BlockedError struct {
	// Problems, at least one, sorted.
	Problems []Problem
}

// Error implements error, one line a problem.
func (e *BlockedError) Error() string {
	var all []error
	for _, p := range e.Problems {
		all = append(all, errors.New(p.Text))
	}
	return errors.Join(all...).Error()
}

// Passing reports whether all of it may pass without anybody deciding anything.
func (e *BlockedError) Passing() bool {
	return !slices.ContainsFunc(e.Problems, func(p Problem) bool { return p.Reason != Missing })
}

// UsersError says what is wrong with the users of a cluster: with the input, not with
// the Secrets.
type UsersError struct {
	// Err joins everything that is wrong.
	Err error
}

// Error implements error.
func (e *UsersError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong.
func (e *UsersError) Unwrap() error { return e.Err }

func usersError(c *v1alpha1.ValkeyCluster, err error) error {
	return &UsersError{fmt.Errorf("%s: %w", name.Subject(v1alpha1.KindCluster, c.Namespace, c.Name), err)}
}

// problems collects what is wrong with the Secrets of one namespace.
type problems struct {
	namespace string
	all       []Problem
}

func (p *problems) add(reason Reason, secret, format string, args ...any) {
	text := name.Subject("Secret", p.namespace, secret) + ": " + fmt.Sprintf(format, args...)
	if found := (Problem{reason, text}); !slices.Contains(p.all, found) {
		p.all = append(p.all, found)
	}
}

func (p *problems) err(c *v1alpha1.ValkeyCluster) error {
	if len(p.all) == 0 {
		return nil
	}
	slices.SortStableFunc(p.all, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Text, b.Text))
	})
	return fmt.Errorf("%s: %w", name.Subject(v1alpha1.KindCluster, c.Namespace, c.Name), &BlockedError{p.all})
}
