// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package patch_test

import (
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/load"
	"github.com/valkey-render/valkey-render/render/patch"
)

// TestPatchesBesideBuildsMergeAsAlone: a build resets what kustomize knows of kinds,
// and a patch that ran meanwhile would replace lists that it means to merge.
func TestPatchesBesideBuildsMergeAsAlone(t *testing.T) {
	in := objects(t, composed)
	patches := []v1alpha1.Patch{{
		Target: target("StatefulSet", ""),
		Patch:  "spec: {template: {spec: {containers: [{name: server, env: [{name: A}]}]}}}",
	}}
	want, _, errs := patch.Apply(in, patches)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	fs := filesys.MakeFsInMemory()
	for name, text := range map[string]string{
		"/kustomization.yaml": "resources: [cluster.yaml]\n",
		"/cluster.yaml":       "apiVersion: valkey-render.dev/v1alpha1\nkind: ValkeyCluster\nmetadata: {name: a}\nspec: {}\n",
	} {
		if err := fs.WriteFile(name, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	var wait sync.WaitGroup
	for range 2 {
		wait.Go(func() {
			for range 3 {
				if _, err := load.FromKustomization(fs, "/"); err != nil {
					t.Error(err)
				}
			}
		})
		wait.Go(func() {
			for range 10 {
				got, _, errs := patch.Apply(in, patches)
				if diff := cmp.Diff(want, got); len(errs) > 0 || diff != "" {
					t.Errorf("%v (-alone +beside)\n%s", errs, diff)
				}
			}
		})
	}
	wait.Wait()
}
