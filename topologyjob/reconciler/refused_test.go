// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"context"
	"errors"
	"fmt"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/topologyjob/status"
)

// TestWhatIsRefusedIsTold, by what was asked for, through whatever is said around it; what
// is only news, or comes of a server that is away, is not.
func TestWhatIsRefusedIsTold(t *testing.T) {
	resource := schema.GroupResource{Resource: "things"}
	forbidden := apierrors.NewForbidden(resource, "x", errors.New("exceeded quota"))
	meta := metav1.ObjectMeta{Namespace: "shop", Name: "x"}
	pod, node := &corev1.Pod{ObjectMeta: meta}, &v1alpha1.ValkeyNode{ObjectMeta: meta}
	patch := client.RawPatch(types.MergePatchType, []byte(`{}`))
	for what, s := range map[string]struct {
		says    error
		request func(client.Client) error
		want    status.Failure
		all     bool
	}{
		"a Job": {forbidden, func(c client.Client) error { return c.Create(t.Context(), &batchv1.Job{ObjectMeta: meta}) }, status.Failure{Verb: status.VerbCreate, Kind: "Job"}, true},
		"a Secret": {
			apierrors.NewInvalid(schema.GroupKind{Kind: "Secret"}, "x", nil), func(c client.Client) error { return c.Update(t.Context(), &corev1.Secret{ObjectMeta: meta}) },
			status.Failure{Verb: status.VerbUpdate, Kind: "Secret"},
			true,
		},
		"a label": {forbidden, func(c client.Client) error { return c.Patch(t.Context(), pod, patch) }, status.Failure{Verb: status.VerbUpdate, Kind: "Pod"}, true},
		"an end":  {forbidden, func(c client.Client) error { return c.Delete(t.Context(), node) }, status.Failure{Verb: status.VerbDelete, Kind: "ValkeyNode"}, true},
		"a status": {
			forbidden, func(c client.Client) error { return c.Status().Patch(t.Context(), node, patch) },
			status.Failure{Verb: status.VerbUpdate, Kind: "ValkeyNode"},
			true,
		},
		"the status itself": {
			forbidden, func(c client.Client) error {
				return c.Status().Patch(t.Context(), &v1alpha1.ValkeyCluster{ObjectMeta: meta}, patch)
			}, status.Failure{}, false,
		},
		"an eviction": {
			forbidden, func(c client.Client) error {
				return c.SubResource("eviction").Create(t.Context(), pod, &policyv1.Eviction{ObjectMeta: meta})
			}, status.Failure{Verb: status.VerbEvict, Kind: "Pod"}, true,
		},
		"by a webhook": {
			apierrors.NewInternalError(errors.New("failed calling webhook")), func(c client.Client) error { return c.Patch(t.Context(), pod, patch) },
			status.Failure{Verb: status.VerbUpdate, Kind: "Pod"},
			true,
		},
		"it is there":    {apierrors.NewAlreadyExists(resource, "x"), func(c client.Client) error { return c.Patch(t.Context(), pod, patch) }, status.Failure{}, false},
		"it is newer":    {apierrors.NewConflict(resource, "x", nil), func(c client.Client) error { return c.Patch(t.Context(), pod, patch) }, status.Failure{}, false},
		"wait":           {apierrors.NewTooManyRequests("wait", 1), func(c client.Client) error { return c.Patch(t.Context(), pod, patch) }, status.Failure{}, false},
		"nobody answers": {errors.New("connection refused"), func(c client.Client) error { return c.Patch(t.Context(), pod, patch) }, status.Failure{}, false},
	} {
		t.Run(what, func(t *testing.T) {
			err := fmt.Errorf("around: %w", errors.Join(nil, fmt.Errorf("it: %w", s.request(telling{refuses(t, s.says)}))))
			list, all := refusals(err)
			if all != s.all || (s.want == status.Failure{}) != (len(list) == 0) {
				t.Fatalf("%+v, %v: %v", list, all, err)
			}
			for _, f := range list {
				s.want.Name, s.want.Message = "x", s.says.Error()
				if f.Failure != s.want || f.reason != apierrors.ReasonForError(s.says) {
					t.Errorf("%+v, want %+v", f, s.want)
				}
			}
			if list, all := refusals(errors.Join(err, errors.New("and more"))); all || len(list) > 1 {
				t.Errorf("%+v, %v", list, all)
			}
		})
	}
	if list, all := refusals(nil); !all || len(list) > 0 {
		t.Errorf("%+v, %v", list, all)
	}
}

// refuses is a client all of whose writes end with an error.
func refuses(t *testing.T, err error) client.Client {
	scheme, problem := Scheme()
	if problem != nil {
		t.Fatal(problem)
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithInterceptorFuncs(interceptor.Funcs{
		Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error { return err },
		Update: func(context.Context, client.WithWatch, client.Object, ...client.UpdateOption) error { return err },
		Delete: func(context.Context, client.WithWatch, client.Object, ...client.DeleteOption) error { return err },
		Patch: func(context.Context, client.WithWatch, client.Object, client.Patch, ...client.PatchOption) error {
			return err
		},
		SubResourcePatch: func(context.Context, client.Client, string, client.Object, client.Patch, ...client.SubResourcePatchOption) error {
			return err
		},
		SubResourceCreate: func(context.Context, client.Client, string, client.Object, client.Object, ...client.SubResourceCreateOption) error {
			return err
		},
	}).Build()
}

// TestARefusalIsNewsOnce, and that there is none any more is news. What is said of the same
// once more is none.
func TestARefusalIsNewsOnce(t *testing.T) {
	r, key := NewRefused(), types.NamespacedName{Namespace: "shop", Name: "cache"}
	says := func(reason metav1.StatusReason, message string) []refused {
		return []refused{{status.Failure{Verb: status.VerbCreate, Kind: "Job", Name: "x", Message: message}, reason}}
	}
	const webhook, again = "failed calling webhook: read tcp 10.0.0.1:40001->10.0.0.2:443: reset", "failed calling webhook: read tcp 10.0.0.1:52002->10.0.0.2:443: reset"
	for i, s := range []struct {
		list []refused
		news bool
		told string
	}{
		{nil, false, ""},
		{says(metav1.StatusReasonForbidden, "quota"), true, "quota"},
		{says(metav1.StatusReasonForbidden, "quota"), false, "quota"},
		{nil, true, ""},
		{nil, false, ""},
		{says(metav1.StatusReasonInternalError, webhook), true, webhook},
		{says(metav1.StatusReasonInternalError, again), false, webhook},
		{says(metav1.StatusReasonInternalError, "failed calling webhook: EOF"), false, "failed calling webhook: EOF"},
		{says(metav1.StatusReasonForbidden, "quota"), true, "quota"},
	} {
		news, told := r.take(key, s.list), ""
		if list := r.of(key); len(list) == 1 {
			told = list[0].Message
		}
		if news != s.news || told != s.told {
			t.Errorf("%d: news %v, %q", i, news, told)
		}
	}
}
