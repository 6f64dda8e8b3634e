// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"context"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/topologyjob/decision"
	"github.com/valkey-render/valkey-render/topologyjob/job"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// TestAJobOfSomebodyElseIsNotTakenForOurs: it does nothing for this cluster, and nobody would
// notice.
func TestAJobOfSomebodyElseIsNotTakenForOurs(t *testing.T) {
	c := &v1alpha1.ValkeyCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cache", UID: "this"}}
	c.Default()
	for what, s := range map[string]struct {
		kind string
		edit func(*batchv1.Job)
		ours bool
	}{
		"ours":                           {job.Repair, func(*batchv1.Job) {}, true},
		"of a cluster that had its name": {job.Repair, func(j *batchv1.Job) { j.OwnerReferences[0].UID = "before" }, false},
		"of nobody":                      {job.Repair, func(j *batchv1.Job) { j.OwnerReferences = nil }, false},
		"an apply of ours":               {job.Apply, func(*batchv1.Job) {}, true},
		"an apply of another cluster":    {job.Apply, func(j *batchv1.Job) { j.Annotations[job.AnnotationToken] = "before" }, false},
	} {
		t.Run(what, func(t *testing.T) {
			scheme, err := Scheme()
			if err != nil {
				t.Fatal(err)
			}
			start := decision.Start{Order: job.Order{Kind: s.kind, Token: "token"}, Serial: 1, Attempt: 1}
			place := job.Place{Namespace: "system", Account: "apply"}
			there, err := job.Object(c, nil, start.Order, 1, 1, "image", place)
			if err != nil {
				t.Fatal(err)
			}
			s.edit(there)
			kube := fake.NewClientBuilder().WithScheme(scheme).WithObjects(there).Build()
			r := &Reconciler{Client: kube, Live: kube, JobImage: "image", Place: place}
			err = r.start(t.Context(), &gathered{cluster: c}, &start)
			if (err == nil) != s.ours || err != nil && !strings.Contains(err.Error(), "is not of ValkeyCluster") {
				t.Errorf("%v", err)
			}
		})
	}
}

// mute is a Surveyor whom nobody should ask.
type mute struct{ Surveyor }

func (mute) Survey(context.Context, types.NamespacedName, Login, Asked) survey.View {
	panic("asked without a way to log in")
}

// TestWhoCannotBeAskedAgainTellsNothing: what servers told before says nothing of now.
func TestWhoCannotBeAskedAgainTellsNothing(t *testing.T) {
	c := &v1alpha1.ValkeyCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cache"}}
	c.Default()
	g := &gathered{cluster: c, secrets: map[string]*corev1.Secret{}}
	g.seen.View = &survey.View{}
	if again := (&Reconciler{Surveyor: mute{}}).askAgain(t.Context(), g); again.seen.View != nil || g.seen.View == nil {
		t.Errorf("%+v, before %+v", again.seen.View, g.seen.View)
	}
}
