// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package object

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/valkey-render/valkey-render/render/name"
)

// TestTheReconcilerKnowsWhatIsRendered: of the kinds that it reads all objects are on its
// list, and none is there that is not rendered.
func TestTheReconcilerKnowsWhatIsRendered(t *testing.T) {
	kinds := []string{name.KindService, name.KindConfigMap, name.KindBudget, name.KindStatefulSet, name.KindClaim}
	for _, dir := range caseDirs(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			c, acls := readCase(t, dir)
			var want, got []string
			for _, o := range compose(t, c, acls) {
				// Nothing depends on a dashboard.
				if slices.Contains(kinds, o.GetKind()) && o.GetName() != name.Dashboard(c.Name) {
					want = append(want, o.GetKind()+"/"+o.GetName())
				}
			}
			for _, o := range name.Rendered(c) {
				got = append(got, o.Kind+"/"+o.Name)
			}
			slices.Sort(want)
			slices.Sort(got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-rendered +listed)\n%s", diff)
			}
		})
	}
}
