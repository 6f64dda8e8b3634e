// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/valkey-render/valkey-render/internal/apitest"
)

func smallest() string {
	return clusterSpec("{topology: Standalone, resources: {limits: {memory: 1Gi}}, storage: {size: 1Gi}}")
}

func TestAPIServerImmutableFieldsAreReportedAndNothingIsDeleted(t *testing.T) {
	r := newRig(t)
	r.apply(smallest())
	before := r.get("apps/v1", "StatefulSet", "cache-0")
	a := r.applier(Options{})
	clusters := rendered(t, r.namespace, smallest())
	set := find(t, clusters[0], "StatefulSet", "cache-0")
	spec := set.Object["spec"].(map[string]any)
	spec["serviceName"] = "other"
	template := spec["volumeClaimTemplates"].([]any)[0].(map[string]any)
	template["spec"].(map[string]any)["resources"] = map[string]any{"requests": map[string]any{"storage": "3Gi"}}
	find(t, clusters[0], "ConfigMap", "cache-live").SetAnnotations(map[string]string{"changed": "yes"})
	p, err := a.Plan(t.Context(), clusters)
	immutable, ok := errors.AsType[*ImmutableError](err)
	if !ok || !IsRefusal(err) {
		t.Fatalf("%v", err)
	}
	var paths []string
	for _, f := range immutable.Fields {
		paths = append(paths, f.Path+" "+f.Live+" "+f.Rendered)
	}
	size := template["spec"].(map[string]any)["resources"].(map[string]any)["requests"].(map[string]any)["storage"]
	want := []string{"spec.serviceName \"cache-nodes\" \"other\"", "spec.volumeClaimTemplates[0].spec.resources.requests.storage \"" + initialSize(t, r) + "\" \"" + size.(string) + "\""}
	if diff := cmp.Diff(want, paths); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if Count(p.Results())[Failed] != 1 {
		t.Errorf("%v", summary(p.Results()))
	}
	after := r.get("apps/v1", "StatefulSet", "cache-0")
	if before.GetUID() != after.GetUID() || r.get("v1", "ConfigMap", "cache-live").GetAnnotations()["changed"] != "" {
		t.Error("something was written")
	}
	// The ValkeyCluster's own rules.
	_, err = r.try(a, clusterSpec("{topology: Replication, resources: {limits: {memory: 1Gi}}, storage: {size: 1Gi}}"))
	if err == nil || !strings.Contains(err.Error(), "ValkeyCluster/"+r.namespace+"/cache: cannot be changed in place: spec.topology (live \"Standalone\", rendered \"Replication\")") {
		t.Errorf("%v", err)
	}
}

func initialSize(t *testing.T, r *rig) string {
	t.Helper()
	set := find(t, rendered(t, r.namespace, smallest())[0], "StatefulSet", "cache-0")
	template := set.Object["spec"].(map[string]any)["volumeClaimTemplates"].([]any)[0].(map[string]any)
	return template["spec"].(map[string]any)["resources"].(map[string]any)["requests"].(map[string]any)["storage"].(string)
}

// denier is an admission webhook that denies StatefulSets of one namespace.
func denier(t *testing.T, r *rig, alive bool) {
	t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		var review struct {
			Request struct{ UID string }
		}
		body, _ := io.ReadAll(q.Body)
		_ = json.Unmarshal(body, &review)
		_ = json.NewEncoder(w).Encode(map[string]any{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": map[string]any{
			"uid": review.Request.UID, "allowed": false, "status": map[string]any{"message": "not on Fridays"},
		}})
	}))
	t.Cleanup(server.Close)
	if !alive {
		server.Close()
	}
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	fail, none, seconds := admissionregistrationv1.Fail, admissionregistrationv1.SideEffectClassNone, int32(2)
	c := &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: r.namespace},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: "deny.example.com", FailurePolicy: &fail, SideEffects: &none, TimeoutSeconds: &seconds, AdmissionReviewVersions: []string{"v1"},
			ClientConfig:      admissionregistrationv1.WebhookClientConfig{URL: &server.URL, CABundle: ca},
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": r.namespace}},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{"*"},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{"apps"}, APIVersions: []string{"v1"}, Resources: []string{"statefulsets"}},
			}},
		}},
	}
	if err := r.client.Create(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.client.Delete(context.Background(), c) })
	// The server takes a moment to know it.
	time.Sleep(2 * time.Second)
}

func TestAPIServerAWebhookDenies(t *testing.T) {
	for name, c := range map[string]struct {
		alive bool
		want  string
	}{
		"denies":       {true, "/cache-0: apply failed: denied: admission webhook \"deny.example.com\" denied the request: not on Fridays"},
		"is not there": {false, "/cache-0: apply failed: an admission webhook cannot be reached, and none may pass without it: Internal error occurred: failed calling webhook \"deny.example.com\""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			denier(t, r, c.alive)
			_, err := r.try(r.applier(Options{}), smallest())
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v", err)
			}
			if r.exists("v1", "ConfigMap", "cache-live") || r.exists("v1", "ConfigMap", "cache-inventory") {
				t.Error("something was written")
			}
		})
	}
}

// trip lets a test answer requests instead of the server.
type trip func(n int64, q *http.Request) (*http.Response, error)

// faulty is a client through which some requests do not get to the server.
func faulty(t *testing.T, answer trip) client.Client {
	t.Helper()
	config := apitest.Config(t)
	var n atomic.Int64
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(q *http.Request) (*http.Response, error) {
			if response, err := answer(n.Add(1), q); response != nil || err != nil {
				return response, err
			}
			return next.RoundTrip(q)
		})
	})
	c, err := NewClient(rest.AddUserAgent(config, "faulty"))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(q *http.Request) (*http.Response, error) { return f(q) }

func TestAPIServerThatIsOverloadedIsAskedAgain(t *testing.T) {
	r := newRig(t)
	c := faulty(t, func(n int64, q *http.Request) (*http.Response, error) {
		if n%3 != 0 {
			return nil, nil
		}
		status := `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"slow down","reason":"TooManyRequests","code":429}`
		return &http.Response{StatusCode: http.StatusTooManyRequests, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(status)), Request: q}, nil
	})
	results, err := r.try(New(c, Options{}), smallest())
	if err != nil || Count(results)[Created] != len(results[0].Changes) {
		t.Errorf("%v %v", summary(results), err)
	}
}

func TestAPIServerThatIsLostForAMomentIsFoundAgain(t *testing.T) {
	r := newRig(t)
	c := faulty(t, func(n int64, _ *http.Request) (*http.Response, error) {
		if n > 10 && n%4 == 0 {
			return nil, syscall.ECONNRESET
		}
		return nil, nil
	})
	if results, err := r.try(New(c, Options{Concurrency: 2}), smallest()); err != nil {
		t.Errorf("%v %v", summary(results), err)
	}
}

func TestAPIServerThatIsLostForGood(t *testing.T) {
	r := newRig(t)
	var writes atomic.Int64
	c := faulty(t, func(_ int64, q *http.Request) (*http.Response, error) {
		if q.Method == http.MethodPatch && !strings.Contains(q.URL.RawQuery, "dryRun") && writes.Add(1) > 3 || writes.Load() > 3 {
			return nil, syscall.ECONNREFUSED
		}
		return nil, nil
	})
	_, err := r.try(New(c, Options{Concurrency: 1}), smallest())
	if err == nil || IsRefusal(err) || !strings.Contains(err.Error(), "the API server does not answer: connection refused; the same command goes on where this one stopped") {
		t.Fatalf("%v", err)
	}
	r.apply(smallest())
	if again := summary(r.apply(smallest())); len(again) > 0 {
		t.Errorf("%v", again)
	}
}

// TestAPIServerCannotBeAskedWithoutRights: every right that is missing is named,
// and nothing is written.
func TestAPIServerCannotBeAskedWithoutRights(t *testing.T) {
	r := newRig(t)
	config := apitest.Config(t)
	config.Impersonate = rest.ImpersonationConfig{UserName: "nobody", Groups: []string{"system:authenticated"}}
	c, err := NewClient(config)
	if err != nil {
		t.Fatal(err)
	}
	_, err = r.try(New(c, Options{}), smallest())
	if err == nil || !IsRefusal(err) || !strings.Contains(err.Error(), "ConfigMap/"+r.namespace+"/cache-inventory: read failed: configmaps \"cache-inventory\" is forbidden: User \"nobody\" cannot get resource") {
		t.Errorf("%v", err)
	}
}

func TestAPIServerTwoAppliesAtOnce(t *testing.T) {
	r := newRig(t)
	first, second := r.applier(Options{}), r.applier(Options{})
	p, err := first.Plan(t.Context(), rendered(t, r.namespace, smallest()))
	if err != nil {
		t.Fatal(err)
	}
	q, err := second.Plan(t.Context(), rendered(t, r.namespace, smallest()))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := q.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "cache-inventory: write failed: it has changed since it was read: is another apply running?") {
		t.Errorf("%v", err)
	}
}

// boundClaim makes a class whose volumes can grow, and a volume that the claim
// data-cache-0-0 is bound to.
func (r *rig) boundClaim(size string) (class string) {
	r.t.Helper()
	grows := true
	own := metav1.ObjectMeta{Name: r.namespace}
	objects := []client.Object{
		&storagev1.StorageClass{ObjectMeta: own, Provisioner: "example.com/none", AllowVolumeExpansion: &grows},
		&corev1.PersistentVolume{ObjectMeta: own, Spec: corev1.PersistentVolumeSpec{
			Capacity:               corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)},
			AccessModes:            []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			StorageClassName:       r.namespace,
			ClaimRef:               &corev1.ObjectReference{Namespace: r.namespace, Name: "data-cache-0-0"},
			PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/nowhere"}},
		}},
	}
	for _, o := range objects {
		if err := r.client.Create(r.t.Context(), o); err != nil {
			r.t.Fatal(err)
		}
		r.t.Cleanup(func() { _ = r.client.Delete(context.Background(), o) })
	}
	return r.namespace
}

// TestAPIServerClaims: a disk grows by its size alone, and a claim that a volume
// autoscaler grew stays as it is.
func TestAPIServerClaims(t *testing.T) {
	r := newRig(t)
	spec := "{topology: Standalone, resources: {limits: {memory: 1Gi}}, storage: {size: 1Gi, storageClassName: " + r.boundClaim("1Gi") + "}}"
	r.apply(clusterSpec(spec))
	for range 100 {
		if phase, _, _ := unstructured.NestedString(r.get("v1", "PersistentVolumeClaim", "data-cache-0-0").Object, "status", "phase"); phase == "Bound" {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	bigger := clusterSpec(with(spec, "size: 1Gi", "size: 2Gi"))
	set := r.get("apps/v1", "StatefulSet", "cache-0")
	r.apply(bigger)
	if size, _ := quantityAt(r.get("v1", "PersistentVolumeClaim", "data-cache-0-0"), requestPath()...); size.String() != "2Gi" {
		t.Errorf("it asks for %s", size.String())
	}
	if r.get("apps/v1", "StatefulSet", "cache-0").GetGeneration() != set.GetGeneration() {
		t.Error("the StatefulSet was changed")
	}
	if _, err := r.try(r.applier(Options{}), clusterSpec(spec)); err == nil || !strings.Contains(err.Error(), "storage.size") {
		t.Errorf("the ValkeyCluster lets it shrink: %v", err)
	}
	r.change("autoscaler", "v1", "PersistentVolumeClaim", "data-cache-0-0", func(claim *unstructured.Unstructured) {
		claim.Object["spec"].(map[string]any)["resources"] = map[string]any{"requests": map[string]any{"storage": "9Gi"}}
	})
	d := &diary{}
	results, err := r.try(r.applier(d.options()), bigger)
	if err != nil || len(d.notes) != 1 || !strings.Contains(d.notes[0], "is 9Gi and 2Gi is rendered: claims do not shrink") {
		t.Errorf("%v %v %q", summary(results), err, d.notes)
	}
	if again := summary(r.apply(bigger)); len(again) > 0 {
		t.Errorf("%v", again)
	}
}
