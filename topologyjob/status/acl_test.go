// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
)

func TestStatusOfAValkeyACL(t *testing.T) {
	for title, test := range map[string]struct {
		change func(*world, *v1alpha1.ValkeyACL)
		reason string
		says   string
	}{
		"applied":                         {func(*world, *v1alpha1.ValkeyACL) {}, v1alpha1.ReasonApplied, "2 users"},
		"of no cluster":                   {func(w *world, _ *v1alpha1.ValkeyACL) { w.c = nil }, v1alpha1.ReasonClusterNotReady, "no ValkeyCluster c in namespace ns"},
		"of a cluster that is not formed": {func(w *world, _ *v1alpha1.ValkeyACL) { w.c.Status.ClusterInitialized = false }, v1alpha1.ReasonClusterNotReady, "not formed"},
		"with a user of the cluster": {func(w *world, _ *v1alpha1.ValkeyACL) {
			w.c.Spec.Users = []v1alpha1.UserSpec{{Name: "app"}}
		}, v1alpha1.ReasonConflict, "user app is in spec.users of ValkeyCluster c too"},
		"with a user of another": {func(w *world, a *v1alpha1.ValkeyACL) {
			other := a.DeepCopy()
			other.Name = "other"
			w.o.ACLs = append(w.o.ACLs, other)
		}, v1alpha1.ReasonConflict, "ValkeyACL other too"},
		"without its Secret":          {func(w *world, _ *v1alpha1.ValkeyACL) { delete(w.o.Secrets, "mine") }, v1alpha1.ReasonSecretMissing, "user app: Secret mine is missing"},
		"without a key":               {func(w *world, _ *v1alpha1.ValkeyACL) { w.o.Secrets["mine"] = Secret{} }, v1alpha1.ReasonSecretMissing, "has no key password"},
		"with a primary that is gone": {func(w *world, _ *v1alpha1.ValkeyACL) { w.kill("c-1-0"); w.settle() }, v1alpha1.ReasonPrimaryUnreachable, "shard 1"},
		"not everywhere yet":          {func(w *world, _ *v1alpha1.ValkeyACL) { delete(w.o.Settings, "c-2-1") }, v1alpha1.ReasonPending, "pod c-2-1"},
		"refused": {func(w *world, _ *v1alpha1.ValkeyACL) {
			w.o.Settings["c-2-1"] = Settings{ACL: &Setting{v1alpha1.ReasonApplyFailed, "ERR unknown command"}}
		}, v1alpha1.ReasonApplyFailed, "ERR unknown command"},
	} {
		t.Run(title, func(t *testing.T) {
			w := healthy(t, cacheSpec)
			a := &v1alpha1.ValkeyACL{ObjectMeta: metav1.ObjectMeta{Name: "more", Namespace: "ns", Generation: 4}}
			a.Spec.ClusterRef.Name = "c"
			a.Spec.Users = []v1alpha1.UserSpec{{Name: "app", PasswordSecret: &v1alpha1.UserPasswordSecret{Name: "mine", Keys: []string{"password"}}}, {Name: "open", Nopass: true}}
			w.o.ACLs, w.o.Secrets["mine"] = []*v1alpha1.ValkeyACL{a}, Secret{Keys: []string{"password"}}
			test.change(w, a)
			s := ComputeACL(a, w.c, w.o, noon)
			want := "False " + test.reason
			if test.reason == v1alpha1.ReasonApplied {
				want = "True Applied"
			}
			if got := says(s.Conditions, "Ready"); got != want || !strings.Contains(s.Conditions[0].Message, test.says) || s.ObservedGeneration != 4 {
				t.Errorf("%s: %+v", got, s)
			}
			if applied := test.reason == v1alpha1.ReasonApplied; applied != (s.Users == 2) || applied && s.AppliedNodes != 6 {
				t.Errorf("%d users on %d nodes", s.Users, s.AppliedNodes)
			}
			if documented := contracts()["acl"].conditions["Ready"][test.reason]; documented != strings.Fields(want)[0] {
				t.Errorf("the reference page says %q of %s", documented, test.reason)
			}
			a.Status = s
			if diff := cmp.Diff(s, ComputeACL(a, w.c, w.o, noon.Add(time.Hour))); diff != "" {
				t.Errorf("changed by itself:\n%s", diff)
			}
		})
	}
}
