// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package settle

import (
	"context"
	"slices"
)

// subject is a pod that differs from what is wanted.
type subject struct {
	pod Pod
	// version is the server's minor version, replica its role.
	version string
	replica bool
}

func (s *subject) self() *subject { return s }

// like reports whether what one of two accepts the other will most likely, too.
func (s *subject) like(other *subject) bool {
	return s.version == other.version && s.pod.Sentinel == other.pod.Sentinel
}

// inTurn does the same with pods of each kind: with one of them first, a replica where
// there is one, and then with the others at once. The first error ends it.
func inTurn[T interface{ self() *subject }](ctx context.Context, r *run, all []T, do func(ctx context.Context, one T) error) error {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b T) int {
		switch {
		case a.self().replica == b.self().replica:
			return 0
		case a.self().replica:
			return -1
		}
		return 1
	})
	for len(all) > 0 {
		first := all[0]
		var alike, rest []T
		for _, one := range all[1:] {
			if one.self().like(first.self()) {
				alike = append(alike, one)
			} else {
				rest = append(rest, one)
			}
		}
		for _, group := range [][]T{{first}, alike} {
			var pods []Pod
			for _, one := range group {
				pods = append(pods, one.self().pod)
			}
			err := r.each(ctx, pods, func(ctx context.Context, p Pod) error {
				return do(ctx, group[slices.Index(pods, p)])
			})
			if err != nil {
				return err
			}
		}
		all = rest
	}
	return nil
}
