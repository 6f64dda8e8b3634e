// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

func lost() error {
	return &url.Error{Op: "Patch", URL: "https://10.0.0.1:6443/apis/apps/v1/namespaces/shop/statefulsets/cache-0?fieldManager=valkey-render", Err: syscall.ECONNREFUSED}
}

func statefulSets() schema.GroupResource {
	return schema.GroupResource{Group: "apps", Resource: "statefulsets"}
}

func TestErrorsSayWhatToDo(t *testing.T) {
	id := ID{"apps/v1", "StatefulSet", "shop", "cache-0"}
	invalid := apierrors.NewInvalid(schema.GroupKind{Group: "apps", Kind: "StatefulSet"}, "cache-0", field.ErrorList{
		field.Required(field.NewPath("spec", "a"), "is needed"), field.NotSupported(field.NewPath("spec", "b"), "x", []string{"y"}),
	})
	terminating := apierrors.NewForbidden(statefulSets(), "cache-0", errors.New("no"))
	terminating.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: "NamespaceTerminating"}}
	for name, c := range map[string]struct {
		err     error
		want    string
		refusal bool
	}{
		"invalid":      {invalid, "spec.a: Required value: is needed; spec.b: Unsupported value: \"x\": supported values: \"y\"", true},
		"forbidden":    {apierrors.NewForbidden(statefulSets(), "cache-0", errors.New("User \"ci\" cannot patch")), "statefulsets.apps \"cache-0\" is forbidden: User \"ci\" cannot patch", true},
		"nobody":       {fmt.Errorf("failed to get server groups: %w", &apierrors.StatusError{ErrStatus: metav1.Status{Code: 403, Reason: metav1.StatusReasonForbidden, Message: "unknown"}}), "the API server does not let this user ask what kinds there are: does the kubeconfig have credentials?", true},
		"no namespace": {apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "shop"), "namespace shop does not exist: make it first", true},
		"terminating":  {terminating, "its namespace is being deleted", true},
		"webhook":      {apierrors.NewForbidden(statefulSets(), "x", errors.New("admission webhook \"a.b\" denied the request: not on Fridays")), "denied: statefulsets.apps \"x\" is forbidden: admission webhook \"a.b\" denied the request: not on Fridays", true},
		"dead webhook": {apierrors.NewInternalError(errors.New("failed calling webhook \"a.b\": refused")), "an admission webhook cannot be reached, and none may pass without it: Internal error occurred: failed calling webhook \"a.b\": refused", false},
		"throttled":    {apierrors.NewTooManyRequests("slow down", 1), "the API server is overloaded and has been asked 8 times; the same command goes on where this one stopped: slow down", false},
		"lost":         {lost(), "the API server does not answer: connection refused; the same command goes on where this one stopped", false},
		"unauthorized": {apierrors.NewUnauthorized("no"), "the API server does not accept these credentials: no", false},
		"timeout":      {fmt.Errorf("get: %w", context.DeadlineExceeded), "the time ran out; the same command goes on where this one stopped", false},
		"interrupted":  {context.Canceled, "interrupted; the same command goes on where this one stopped", false},
		"no CRD":       {&meta.NoKindMatchError{GroupKind: schema.GroupKind{Group: "valkey-render.dev", Kind: "ValkeyCluster"}}, "the server has no kind ValkeyCluster of valkey-render.dev: install its CRDs: charts/valkey-reconciler, or the files of api/crd", true},
		"other CRD":    {&meta.NoKindMatchError{GroupKind: schema.GroupKind{Group: "x.y", Kind: "Z"}}, "the server has no kind Z of x.y: install its CRD", true},
		"old CRD":      {apierrors.NewBadRequest("strict decoding error: unknown field \"spec.new\""), "the server does not know a field: is a CRD, or the server, older than this program? strict decoding error: unknown field \"spec.new\"", true},
		"no resource":  {apierrors.NewGenericServerResponse(404, "patch", statefulSets(), "", "", 0, false), "the server has no such kind: the server could not find the requested resource (patch statefulsets.apps)", true},
		"other":        {errors.New("other"), "other", false},
	} {
		t.Run(name, func(t *testing.T) {
			err := &ObjectError{ID: id, Verb: "apply", Err: c.err}
			if diff := cmp.Diff("StatefulSet/shop/cache-0: apply failed: "+c.want, err.Error()); diff != "" {
				t.Error(diff)
			}
			if IsRefusal(err) != c.refusal || !errors.Is(err, c.err) {
				t.Errorf("refusal %v", IsRefusal(err))
			}
		})
	}
	if IsRefusal(errors.Join(invalid, lost())) || !IsRefusal(errors.Join(invalid, terminating)) {
		t.Error("joined errors are refusals when all are")
	}
}

func TestImmutableFieldsAreNamed(t *testing.T) {
	live := parsed(t, "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: cache-0, namespace: shop}\nspec: {serviceName: old, replicas: 3, podManagementPolicy: Parallel, volumeClaimTemplates: [{metadata: {name: data}, spec: {resources: {requests: {storage: 1Gi}}}}], selector: {matchLabels: {a: b}}}")
	rendered := parsed(t, "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: cache-0, namespace: shop}\nspec: {serviceName: new, replicas: 2, podManagementPolicy: Parallel, volumeClaimTemplates: [{metadata: {name: data}, spec: {resources: {requests: {storage: 2Gi}}}}], selector: {matchLabels: {a: b, c: d}}}")
	refused := apierrors.NewInvalid(schema.GroupKind{Group: "apps", Kind: "StatefulSet"}, "cache-0", field.ErrorList{
		field.Forbidden(field.NewPath("spec"), "updates to statefulset spec for fields other than 'replicas' are forbidden"),
	})
	err := asImmutable(refused, live, rendered)
	want := "StatefulSet/shop/cache-0: cannot be changed in place: spec.selector.matchLabels.c (live unset, rendered \"d\"), " +
		"spec.serviceName (live \"old\", rendered \"new\"), spec.volumeClaimTemplates[0].spec.resources.requests.storage (live \"1Gi\", rendered \"2Gi\"); " +
		"nothing was deleted: bring the spec back, or migrate by hand"
	if err == nil || err.Error() != want || !IsRefusal(err) {
		t.Errorf("%v", err)
	}
	if err := asImmutable(refused, nil, rendered); err != nil {
		t.Errorf("of an absent object: %v", err)
	}
	other := apierrors.NewInvalid(schema.GroupKind{Kind: "StatefulSet"}, "x", field.ErrorList{field.Required(field.NewPath("spec", "replicas"), "is needed")})
	if err := asImmutable(other, live, rendered); err != nil {
		t.Errorf("of another refusal: %v", err)
	}
	rendered.Object["spec"].(map[string]any)["volumeClaimTemplates"] = []any{}
	if err := asImmutable(refused, live, rendered); err == nil || !strings.Contains(err.Error(), "spec.volumeClaimTemplates (live 1 items, rendered 0 items)") {
		t.Errorf("%v", err)
	}
}

// unsteady answers a number of requests with an error.
func unsteady(r *rig, times int, err error) (client.Client, *int) {
	asked := 0
	fail := func() error {
		asked++
		if asked <= times {
			return err
		}
		return nil
	}
	return interceptor.NewClient(r.client.(client.WithWatch), interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if err := fail(); err != nil {
				return err
			}
			return c.Get(ctx, key, o, opts...)
		},
	}), &asked
}

func TestRequestsAreMadeAgain(t *testing.T) {
	internal := apierrors.NewInternalError(errors.New("etcdserver: leader changed"))
	for name, c := range map[string]struct {
		err     error
		times   int
		reached bool
		asked   int
		ok      bool
	}{
		"overloaded for a moment":    {apierrors.NewTooManyRequests("x", 1), 3, true, 4, true},
		"overloaded for good":        {apierrors.NewTooManyRequests("x", 0), 100, true, 8, false},
		"etcd without a leader":      {internal, 2, true, 3, true},
		"lost after the first":       {lost(), 2, true, 3, true},
		"never reached":              {lost(), 100, false, 1, false},
		"refused":                    {apierrors.NewForbidden(statefulSets(), "x", errors.New("no")), 100, true, 1, false},
		"webhook that does not come": {apierrors.NewInternalError(errors.New("failed calling webhook: etcdserver: lost")), 100, true, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newFake(t)
			flaky, asked := unsteady(r, c.times, c.err)
			clock := clocktesting.NewFakeClock(time.Unix(0, 0))
			steady := &steadyClient{Client: flaky, clock: clock}
			steady.reached.Store(c.reached)
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				for ctx.Err() == nil {
					clock.Step(time.Second)
					time.Sleep(time.Millisecond)
				}
			}()
			o := ID{"v1", "ConfigMap", "shop", "x"}.object()
			err := steady.Get(ctx, client.ObjectKeyFromObject(o), o)
			cancel()
			if apierrors.IsNotFound(err) != c.ok || *asked != c.asked {
				t.Errorf("asked %d times: %v", *asked, err)
			}
		})
	}
}

func TestAFailedReadFailsTheWriteAfterIt(t *testing.T) {
	r := newFake(t)
	refused := apierrors.NewForbidden(statefulSets(), "x", errors.New("cannot get"))
	flaky, _ := unsteady(r, 100, refused)
	a := New(flaky, Options{})
	o := ID{"v1", "ConfigMap", "shop", "x"}.object()
	change := a.write(t.Context(), Cluster{Namespace: "shop", Name: "cache"}, &step{rendered: o, change: Change{ID: idOf(o), Action: Created}})
	if change.Action != Failed || !strings.Contains(change.Message, "cannot get") || r.exists("v1", "ConfigMap", "x") {
		t.Errorf("%+v", change)
	}
}
